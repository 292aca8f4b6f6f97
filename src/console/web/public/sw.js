// Shows a page if the server cannot be reached. All other requests go to the network, as they do without this file.
const store = 'offline-1';
const page = '/offline.html';
const style = '/offline.css';

addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(store)
      .then((cache) => cache.addAll([page, style]))
      .then(() => self.skipWaiting()),
  );
});

addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.mode === 'navigate') event.respondWith(fetch(request).catch(() => caches.match(page)));
  else if (new URL(request.url).pathname === style) event.respondWith(fetch(request).catch(() => caches.match(style)));
});
