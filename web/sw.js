// Keeps the page for use without a network. A new version takes over as a whole, on the next visit.

const CACHE = `sojourn-${"VERSION"}`;
const FILES = [/* FILES */];

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(FILES))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith("sojourn-") && name !== CACHE).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  event.respondWith(
    caches.open(CACHE).then(async (cache) => {
      const known = await cache.match(event.request, { ignoreSearch: true });
      return known ?? fetch(event.request);
    }),
  );
});
