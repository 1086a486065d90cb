// On the page of a queue or a congestion control, offers to run its figure live. The still figure stays. `.ci/website.py`
// leaves this script empty in a site without the page.

(() => {
  const found = /\/docs\/reference\/(queues|congestion)\/([a-z0-9_]+)\.html$/.exec(location.pathname);
  const base = document.currentScript?.src;
  if (!found || !base || !location.protocol.startsWith("http")) return;
  const [, family, name] = found;
  const key = family === "queues" ? "queue" : "flow";
  const live = new URL(`../live/embed.html?${key}=${name}`, base);

  // The frame is of this site: it gets the height that it needs, and the colours that the reader has chosen.
  const fit = (frame) => {
    const inside = frame.contentDocument?.documentElement;
    if (!inside) return;
    const height = () => (frame.style.height = `${inside.querySelector("body").scrollHeight + 4}px`);
    const colours = () => {
      const chosen = document.body.dataset.theme;
      if (chosen === "light" || chosen === "dark") inside.dataset.theme = chosen;
      else delete inside.dataset.theme;
    };
    new ResizeObserver(height).observe(inside.querySelector("body"));
    new MutationObserver(colours).observe(document.body, { attributeFilter: ["data-theme"] });
    height();
    colours();
  };

  const offer = () => {
    // Sphinx gathers pictures in one folder, and numbers those of one name.
    const own = new RegExp(`/${name}\\d*\\.svg$`);
    const figure = [...document.querySelectorAll("article img")].find((image) => own.test(image.getAttribute("src") ?? ""));
    if (!figure) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "live-button";
    button.textContent = "Run it live";
    button.onclick = () => {
      const frame = document.createElement("iframe");
      frame.src = live.href;
      frame.title = `${name}, live`;
      frame.className = "live-frame";
      frame.onload = () => fit(frame);
      button.replaceWith(frame);
    };
    figure.closest("p, figure")?.after(button);
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", offer);
  else offer();
})();
