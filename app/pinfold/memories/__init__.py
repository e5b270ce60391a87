"""What earlier sessions learned, with proof, for later ones."""
