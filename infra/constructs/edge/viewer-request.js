import cf from 'cloudfront';

// The one function at the edge, on every behaviour (CloudFront Functions, runtime 2.0: an old dialect, at most 10 KB).
// It folds paths to their canonical spelling, answers what no origin need see, and chooses the origin.

// Set at deployment. `balanced`: the origin `stream` is always there. `on-demand`: a task that comes and goes, by lease.
const MODE = '__MODE__';

// Set at deployment from the table of operations: { origin, path, methods }. A path may end in a parameter: `…/{key}`.
const ROUTES = JSON.parse('__ROUTES__');
const READ = 'GET, HEAD, OPTIONS';
const PAGES = { '/': '/index.html', '/status': '/status.html', '/status/': '/status.html' };

const JSON_TYPES = ['application/json', 'text/json', 'text/plain'];
// Ranges read of an Accept header: more are a client's mischief.
const MOST_RANGES = 64;

// A public name of EC2: neither an address nor a port may be in it.
const HOST = /^(?=.*[a-z])[a-z0-9.-]+$/;
const TASK_PORT = 8080;
// Seconds. A task that is gone answers nothing at all: its client is told soon.
const CONNECT_TIMEOUT = 2;
const READ_TIMEOUT = 60;

// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it by this name
async function handler(event) {
  const request = event.request;
  // A viewer's own would be believed, and next to ours would make the request invalid.
  delete request.headers['x-reelay-origin'];

  const route = routeOf(request.uri);
  if (route.origin === 'page') {
    request.uri = PAGES[request.uri] || request.uri;
  } else {
    if (route.methods.split(', ').indexOf(request.method) < 0) return refuse(request, route);
    request.uri = route.path;
  }
  if (route.origin === 'stream' && MODE === 'on-demand') await toTask();
  else cf.selectRequestOriginById(route.origin);
  return request;
}

// What a path is, whatever its case. Without `known` there is nothing there; the API says so.
function routeOf(uri) {
  const folded = uri.toLowerCase();
  for (let i = 0; i < ROUTES.length; i++) {
    const path = matchPath(ROUTES[i].path, uri, folded);
    if (path) return { origin: ROUTES[i].origin, path: path, methods: ROUTES[i].methods, known: true };
  }
  if (folded.startsWith('/swagger')) return { origin: 'api', path: folded, methods: READ, known: true };
  if (folded === '/api' || folded.startsWith('/api/')) {
    return { origin: 'api', path: uri, methods: READ, known: false };
  }
  return { origin: 'page' };
}

// The canonical spelling of a URI that matches the path of an operation, else undefined. A parameter keeps its case.
function matchPath(path, uri, folded) {
  const start = path.indexOf('{');
  if (start < 0) return folded === path.toLowerCase() ? path : undefined;
  const value = uri.slice(start);
  const isMatch = folded.startsWith(path.slice(0, start).toLowerCase()) && value !== '' && value.indexOf('/') < 0;
  return isMatch ? path.slice(0, start) + value : undefined;
}

// To the task that runs, while its lease holds: later its address may be another customer's. Else to whoever wakes one.
async function toTask() {
  const task = await leasedTask();
  if (!task) {
    cf.selectRequestOriginById('wake');
    return;
  }
  // Of the origin group this changes the first member alone: the second still wakes when the task has gone.
  cf.updateRequestOrigin({
    domainName: task.host,
    customHeaders: { 'x-reelay-origin': task.secret },
    connectionAttempts: 1,
    timeouts: { connectionTimeout: CONNECT_TIMEOUT, readTimeout: READ_TIMEOUT },
    customOriginConfig: { port: TASK_PORT, protocol: 'http', sslProtocols: ['TLSv1.2'] },
  });
}

// `host|secret|expires`, expires in epoch seconds. Undefined: nobody is registered.
async function leasedTask() {
  let lease;
  try {
    lease = await cf.kvs().get('host');
  } catch (_error) {
    // No such key, or a store that does not answer: either way there is nobody to send a request to.
    return undefined;
  }
  const parts = String(lease).split('|');
  const held = parts.length === 3 && parts[1] !== '' && Number(parts[2]) * 1000 > Date.now();
  return held && HOST.test(parts[0]) ? { host: parts[0], secret: parts[1] } : undefined;
}

// ProblemDetails, as the API writes them.
function refuse(request, route) {
  const problem = route.known
    ? { title: 'Method Not Allowed', status: 405 }
    : { title: 'Resource Not Found', status: 404 };
  const accept = request.headers.accept;
  const headers = {
    'content-type': { value: `${jsonType(accept ? accept.value : '')}; charset=utf-8` },
    'cache-control': { value: 'no-store' },
    'x-content-type-options': { value: 'nosniff' },
    vary: { value: 'Accept' },
  };
  if (route.known) headers.allow = { value: route.methods };
  const response = { statusCode: problem.status, statusDescription: problem.title, headers: headers };
  if (request.method !== 'HEAD') response.body = JSON.stringify(problem);
  return response;
}

// The JSON type that Accept rates highest; a tie or none of them: the first (RFC 9110, section 12.5.1).
function jsonType(accept) {
  const ranges = accept.split(',').slice(0, MOST_RANGES).map(parseRange);
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
