"""Opening sessions: what every face (the screen, exec, those to come) is on."""
