import cf from 'cloudfront';

// The viewer-request function of every behaviour (CloudFront Functions, runtime 2.0: a subset of JavaScript, 10 KB at most).
// It rewrites paths to their canonical case, rejects other methods, and selects the origin. `viewer-request-source.ts` adds
// what else an instance needs.

// Set at deployment from the table of operations: { origin, methods, paths }. A segment of a path may be a parameter: `…/{key}/…`.
const ROUTES = JSON.parse('__ROUTES__');
// Set at deployment, in lower case: `/api/`.
const API_PREFIX = '__API_PREFIX__';
const STREAM_PARAMETERS = '__STREAM_PARAMETERS__'.split(',');
const READ = 'GET, HEAD, OPTIONS';
// Set at deployment.
const MAX_BODY_BYTES = __MAX_BODY_BYTES__;

// Set at deployment: of each path the part whose document answers it.
const DOCUMENTS = /^(__DOCUMENTS__).*/;

const JSON_TYPES = ['application/json', 'text/json', 'text/plain'];
// Media ranges read of an Accept header; further ones are ignored.
const MAX_MEDIA_RANGES = 64;

// Set by the cost guard.
const CLOSED = { title: 'Spending Limit Reached', status: 503 };

// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it by this name
async function handler(event) {
  const request = event.request;
  // One sent by the viewer would be trusted, and a duplicate would make the request invalid.
  delete request.headers['x-reelay-origin'];
  delete request.headers['x-reelay-access'];
  delete request.headers['x-forwarded-host'];

  const closed = await closedSeconds();
  if (closed > 0) return answer(request, CLOSED, { 'retry-after': { value: String(closed) } });
  // __SECURITY__
  const route = routeOf(request.uri);
  // __ADMIT__
  if (route.origin === 'page') {
    request.uri = request.uri === '/' ? '/index.html' : request.uri.replace(DOCUMENTS, '$1.html');
  } else {
    if (route.methods.split(', ').indexOf(request.method) < 0) return refuse(request, route);
    // Bodies are billed before anything behind the edge counts them. One without a length may be of any.
    const length = request.headers['content-length'];
    if (request.method === 'POST' && !(length && Number(length.value) <= MAX_BODY_BYTES)) {
      return answer(request, { type: '/problems/bad-parameter', title: 'Content Too Large', status: 413 }, {});
    }
    request.uri = route.path;
  }
  // Feeds refer to the name that the viewer asked. The header Host names the origin.
  const host = request.headers.host;
  if (route.origin === 'api' && host) request.headers['x-forwarded-host'] = { value: host.value };
  if (route.origin === 'stream') {
    request.querystring = canonicalQuery(request.querystring || {});
    // All sites but others share what is cached.
    const site = request.headers['sec-fetch-site'];
    if (site && site.value !== 'cross-site') delete request.headers['sec-fetch-site'];
  }
  await selectOrigin(route.origin, request);
  return request;
}

// The parameters of streams alone, each with its first value, as the service reads it: the cache key then contains all that
// changes what the origin sends.
function canonicalQuery(query) {
  const kept = {};
  STREAM_PARAMETERS.forEach((name) => {
    if (query[name])
      kept[name] = { value: query[name].multiValue ? query[name].multiValue[0].value : query[name].value };
  });
  return kept;
}

// The route of a path in any case. Not `known`: the API answers 404.
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
  return { origin: 'page' };
}

// The canonical case of a URI that matches the path of an operation, else undefined. A parameter keeps its case.
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

// Seconds for which the cost guard keeps everything closed.
async function closedSeconds() {
  try {
    const until = await cf.kvs().get('closed');
    return Math.ceil(Number(until) - Date.now() / 1000) || 0;
  } catch (_error) {
    // The key does not exist, or the store does not respond.
    return 0;
  }
}

// ProblemDetails in the format of the API.
function refuse(request, route) {
  if (!route.known)
    return answer(request, { type: '/problems/not-found', title: 'Resource Not Found', status: 404 }, {});
  const problem = { type: '/problems/method-not-allowed', title: 'Method Not Allowed', status: 405 };
  return answer(request, problem, { allow: { value: route.methods } });
}

function answer(request, problem, more) {
  const accept = request.headers.accept;
  const headers = {
    'content-type': { value: `${jsonType(accept ? accept.value : '')}; charset=utf-8` },
    'cache-control': { value: 'no-store' },
    'x-content-type-options': { value: 'nosniff' },
    vary: { value: 'Accept' },
  };
  Object.assign(headers, more);
  const response = { statusCode: problem.status, statusDescription: problem.title, headers: headers };
  if (request.method !== 'HEAD') response.body = JSON.stringify(problem);
  return response;
}

// The JSON type that Accept rates highest; a tie or none of them: the first (RFC 9110, section 12.5.1).
function jsonType(accept) {
  const ranges = accept.split(',').slice(0, MAX_MEDIA_RANGES).map(parseRange);
  const weights = JSON_TYPES.map((type) => weightOf(type, ranges));
  const highest = Math.max(weights[0], weights[1], weights[2]);
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
