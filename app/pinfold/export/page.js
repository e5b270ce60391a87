const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const folded = [...document.querySelectorAll("details")];

function paint() {
  const now = root.dataset.theme || (dark.matches ? "dark" : "light");
  document.getElementById("theme").textContent = now === "dark" ? "Light" : "Dark";
}

document.getElementById("theme").addEventListener("click", (event) => {
  root.dataset.theme = event.target.textContent.toLowerCase();
  paint();
});
document.getElementById("all").addEventListener("click", (event) => {
  const open = event.target.textContent === "Open all";
  for (const each of folded) each.open = open;
  event.target.textContent = open ? "Close all" : "Open all";
});

// A link to an item inside a closed call opens it.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const around = target && (target.closest("details") || target.querySelector("details"));
  if (around) around.open = true;
  if (target) target.scrollIntoView();
}

dark.addEventListener("change", paint);
addEventListener("hashchange", reveal);
document.querySelector(".tools").classList.add("live");
paint();
reveal();
