/// <reference lib="webworker" />

/** Files of this build's shell, inserted by web/shell-plugin.ts. */
declare const __SHELL__: {
  readonly version: string;
  /** Includes every locale, so that the language can be changed offline. */
  readonly assets: readonly string[];
};

// The DOM library is in the same type check; here the global is the worker's.
const worker = self as unknown as ServiceWorkerGlobalScope;
const shell = __SHELL__;
const PREFIX = 'shell-';
const CACHE = PREFIX + shell.version;
const PAGES = ['/', '/status'];
/** After this time the cached page is used. */
const PAGE_TIMEOUT_MS = 4000;

worker.addEventListener('install', (event) => event.waitUntil(keepShell()));
worker.addEventListener('activate', (event) => event.waitUntil(forgetOlder()));
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  // Only the shell: API, streams and other origins are not intercepted.
  if (request.method !== 'GET' || origin !== worker.location.origin) return;
  if (request.mode === 'navigate' && PAGES.includes(pathname)) event.respondWith(page(request, pathname));
  else if (pathname.startsWith('/assets/')) event.respondWith(asset(request));
});

async function keepShell(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll([...PAGES, ...shell.assets]);
}

async function forgetOlder(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(
    names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)),
  );
}

/** Network first, then the cache. */
async function page(request: Request, pathname: string): Promise<Response> {
  const kept = await caches.match(pathname, { cacheName: CACHE });
  try {
    return await fetch(request, kept ? { signal: AbortSignal.timeout(PAGE_TIMEOUT_MS) } : {});
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}

/** Cache first: names contain a content hash. */
async function asset(request: Request): Promise<Response> {
  const kept = await caches.match(request.url);
  if (kept) return kept;
  const response = await fetch(request);
  if (response.status === 200) {
    const copy = response.clone();
    await caches
      .open(CACHE)
      .then((cache) => cache.put(request.url, copy))
      .catch(() => undefined);
  }
  return response;
}
