// The viewer-request function of every behaviour (CloudFront Functions, runtime 2.0: a subset of JavaScript, 10 KB at most). CloudFront
// calls `handler` with each request before it looks into its cache. In this order it:
//
// 1. removes headers that the origins trust;
// 2. answers 503 while the cost guard keeps the instance closed;
// 3. finds the route of the path, in any case;
// 4. lets each function of `STEPS` answer instead of an origin;
// 5. answers 404, 405 and 413 where the API would refuse the request, and 405 where the page would;
// 6. writes the path in its canonical case, and leaves only the parameters of streams in the query of a stream;
// 7. selects the origin: the page, the API, or the host of streams.
//
// `viewer-request-source.ts` puts the imports of `cf` and `crypto` and these constants in front of this file:
// - ROUTES: { origin, methods, paths } of the operations of the API. A segment of a path may be a parameter: `…/{key}/…`.
// - API_PREFIX: `/api/`.
// - STREAM_PARAMETERS: names of the query parameters of streams.
// - MAX_BODY_BYTES: the longest body that the API reads.
// - CORS_ORIGINS: origins whose pages may read responses.
// - VARY: the request headers that its own responses depend on.
// - STEPS: the functions of `viewer-request-contact.js` and `viewer-request-access.js` that the instance needs.
// The function `selectOrigin(id, request)` follows behind it.

const READ = 'GET, HEAD, OPTIONS';
// Paths of the page without the `.html` of their files.
const PROBLEM_PAGE = /^\/problems\/[a-z-]+$/;

const HTML = 'text/html';
const JSON_TYPES = ['application/json', 'text/json', 'text/plain'];
// Further media ranges of an Accept header are ignored.
const MAX_MEDIA_RANGES = 64;

const CLOSED = { type: '/problems/busy', title: 'Spending Limit Reached', status: 503 };

// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it by this name
async function handler(event) {
  const request = event.request;
  // The origins trust these headers, so none may come from the viewer. A duplicate would make the request invalid.
  delete request.headers['x-reelay-origin'];
  delete request.headers['x-reelay-access'];
  delete request.headers['x-forwarded-host'];

  const closed = await closedSeconds();
  if (closed > 0) return answer(request, CLOSED, { 'retry-after': { value: String(closed) } });
  const route = routeOf(request.uri);
  for (let i = 0; i < STEPS.length; i++) {
    const response = await STEPS[i](request, route);
    if (response) return response;
  }
  if (route.methods.split(', ').indexOf(request.method) < 0) return refuse(request, route);
  if (route.origin === 'page') {
    if (request.uri === '/') request.uri = '/index.html';
    else if (PROBLEM_PAGE.test(request.uri)) request.uri += '.html';
  } else {
    // A body is billed before anything behind the edge counts it. Without a length it may be of any size.
    const length = request.headers['content-length'];
    if (request.method === 'POST' && !(length && /^\d+$/.test(length.value) && length.value <= MAX_BODY_BYTES)) {
      return answer(request, { type: '/problems/bad-parameter', title: 'Content Too Large', status: 413 }, {});
    }
    request.uri = route.path;
  }
  // Links in feeds have the host name that the viewer requested. Behind the edge, Host names the origin.
  const host = request.headers.host;
  if (route.origin === 'api' && host) request.headers['x-forwarded-host'] = { value: host.value };
  if (route.origin === 'stream') {
    request.querystring = canonicalQuery(request.querystring || {});
    // The header is part of the cache key, and the origin only distinguishes other sites.
    const site = request.headers['sec-fetch-site'];
    if (site && site.value !== 'cross-site') delete request.headers['sec-fetch-site'];
  }
  await selectOrigin(route.origin, request);
  return request;
}

// Keeps the parameters of streams, each with its first value, which is the one that the service reads: the cache key then contains
// all that changes what the origin sends, and nothing else.
function canonicalQuery(query) {
  const kept = {};
  STREAM_PARAMETERS.forEach((name) => {
    if (query[name])
      kept[name] = { value: query[name].multiValue ? query[name].multiValue[0].value : query[name].value };
  });
  return kept;
}

// The route of a path in any case. `known` is false for a path below that of the API which no operation has.
function routeOf(uri) {
  const folded = uri.toLowerCase();
  for (let i = 0; i < ROUTES.length; i++) {
    const route = ROUTES[i];
    for (let j = 0; j < route.paths.length; j++) {
      const path = matchPath(route.paths[j], uri, folded);
      if (path) return { origin: route.origin, path: path, methods: route.methods, known: true };
    }
  }
  if (folded.startsWith('/swagger')) return { origin: 'api', path: folded, methods: READ, known: true };
  if (`${folded}/`.startsWith(API_PREFIX)) {
    return { origin: 'api', path: uri, methods: READ, known: false };
  }
  return { origin: 'page', path: uri, methods: READ, known: true };
}

// A URI in the case of the operation whose path it matches, else undefined. A parameter keeps its case.
function matchPath(path, uri, folded) {
  const wanted = path.split('/');
  const given = uri.split('/');
  const lower = folded.split('/');
  if (wanted.length !== given.length) return undefined;
  for (let i = 0; i < wanted.length; i++) {
    if (wanted[i].startsWith('{')) {
      if (given[i] === '') return undefined;
      wanted[i] = given[i];
    } else if (lower[i] !== wanted[i].toLowerCase()) return undefined;
  }
  return wanted.join('/');
}

// Seconds for which the cost guard keeps the instance closed. It writes the key `closed`: epoch seconds.
async function closedSeconds() {
  try {
    const until = await cf.kvs().get('closed');
    return Math.ceil(Number(until) - Date.now() / 1000) || 0;
  } catch (_error) {
    // The key does not exist, or the store does not respond.
    return 0;
  }
}

// 404 or 405.
function refuse(request, route) {
  if (!route.known)
    return answer(request, { type: '/problems/not-found', title: 'Resource Not Found', status: 404 }, {});
  const problem = { type: '/problems/method-not-allowed', title: 'Method Not Allowed', status: 405 };
  return answer(request, problem, { allow: { value: route.methods } });
}

// A response with ProblemDetails in the format of the API, or a page to browsers. `more`: further headers.
function answer(request, problem, more) {
  const accept = request.headers.accept;
  const type = typeFor(accept ? accept.value : '');
  const headers = {
    'content-type': { value: `${type}; charset=utf-8` },
    'cache-control': { value: 'no-store' },
    'x-content-type-options': { value: 'nosniff' },
    vary: { value: VARY },
  };
  const origin = request.headers.origin;
  if (origin && (CORS_ORIGINS.indexOf('*') >= 0 || CORS_ORIGINS.indexOf(origin.value) >= 0)) {
    headers['access-control-allow-origin'] = { value: origin.value };
    headers['access-control-expose-headers'] = { value: 'Retry-After' };
  }
  Object.assign(headers, more);
  const response = { statusCode: problem.status, statusDescription: problem.title, headers: headers };
  if (request.method !== 'HEAD') response.body = type === HTML ? pageOf(problem) : JSON.stringify(problem);
  return response;
}

// None of its texts comes from the request.
function pageOf(problem) {
  const head = `<title>${problem.title}</title><link rel="stylesheet" href="/problems.css">`;
  const text = `<h1>${problem.title}</h1><p>${problem.detail || ''}</p><p><a href="${problem.type}">What to do</a></p>`;
  return `<!doctype html><html lang="en">${head}<main>${text}</main></html>`;
}

// HTML where Accept prefers it, else the JSON type that it rates highest; a tie or none of them: the first (RFC 9110, section 12.5.1).
function typeFor(accept) {
  const ranges = accept.split(',').slice(0, MAX_MEDIA_RANGES).map(parseRange);
  const weights = JSON_TYPES.map((type) => weightOf(type, ranges));
  const highest = Math.max(weights[0], weights[1], weights[2]);
  if (weightOf(HTML, ranges) > highest) return HTML;
  const best = JSON_TYPES.filter((_type, index) => weights[index] === highest);
  return best.length === 1 ? best[0] : JSON_TYPES[0];
}

function parseRange(text) {
  const parts = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parts.slice(1).find((part) => part.startsWith('q='));
  const value = quality === undefined ? '1' : quality.slice(2);
  return { range: parts[0], weight: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(value) ? Number(value) : 0 };
}

// The most specific range that names the type decides.
function weightOf(type, ranges) {
  const names = [type, `${type.split('/')[0]}/*`, '*/*'];
  for (let i = 0; i < names.length; i++) {
    const found = ranges.find((range) => range.range === names[i]);
    if (found) return found.weight;
  }
  return 0;
}
