// On the page of a queue or a congestion control, offers to run its figure live. The still figure stays where the page is not on a server, and
// until the reader asks.

(() => {
  const found = /\/docs\/reference\/(queues|congestion)\/([a-z0-9_]+)\.html$/.exec(location.pathname);
  const base = document.currentScript?.src;
  if (!found || !base || !location.protocol.startsWith("http")) return;
  const [, family, name] = found;
  const key = family === "queues" ? "queue" : "flow";
  const live = new URL(`../live/embed.html?${key}=${name}`, base);

  const offer = () => {
    const figure = document.querySelector(`article img[src$="/images/${family}/${name}.svg"]`);
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
      button.replaceWith(frame);
    };
    figure.closest("p, figure")?.after(button);
  };

  // A site without the page has no button.
  const begin = () => fetch(live, { method: "HEAD" }).then((answer) => answer.ok && offer(), () => undefined);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
