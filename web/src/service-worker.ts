/// <reference lib="webworker" />

/** What this build's shell is made of: put in by web/shell-plugin.ts. */
declare const __SHELL__: {
  readonly version: string;
  /** The texts of every language too: one that was never used may be wanted without a connection. */
  readonly assets: readonly string[];
};

// The library of pages is in the same check: this file's global is the worker's.
const worker = self as unknown as ServiceWorkerGlobalScope;
const shell = __SHELL__;
const PREFIX = 'shell-';
const CACHE = PREFIX + shell.version;
const PAGES = ['/', '/status'];
/** How long a page may take to come before the one that is kept is shown, milliseconds. */
const PAGE_MILLISECONDS = 4000;

worker.addEventListener('install', (event) => event.waitUntil(keepShell()));
worker.addEventListener('activate', (event) => event.waitUntil(forgetOlder()));
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  // The shell alone: the API, its streams and what other hosts give are none of this worker's business.
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

/** The newest page there is, and the kept one without a connection. */
async function page(request: Request, pathname: string): Promise<Response> {
  const kept = await caches.match(pathname, { cacheName: CACHE });
  try {
    return await fetch(request, kept ? { signal: AbortSignal.timeout(PAGE_MILLISECONDS) } : {});
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}

/** Named by content: what is kept is what there is. */
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
