// The step of the viewer-request function that checks access keys and signed links, for private instances.
// `local/service/require-access.ts` does the same on one machine; `core/http/access-secrets.ts` has the format of keys and signatures.
//
// `viewer-request-source.ts` puts these constants in front of the function:
// - PUBLIC_PATH: the path of the operation that needs no key.
// - SIGNED_PATHS: paths of operations that a signature in the parameter `access` admits.

const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;
const SIGNED_KEY = /^([\w-]{1,64})\.([0-9a-f]{12})\.(\d{1,12})\.([\w-]{22})$/;
const MAX_CLOCK_SKEW_SECONDS = 60;
// Index of the key in a stream path split at slashes: `/api/Stream/Media/{key}`.
const KEY_SEGMENT = 4;

// Sets the header that admits a request, and removes the signature from its path. Returns the response that refuses it.
// biome-ignore lint/correctness/noUnusedVariables: a step of the handler in viewer-request.js
async function admit(request, route) {
  if (route.origin === 'page') return undefined;
  const hash = await hashOfCredentials(request);
  const segments = route.path.split('/');
  const inPath = route.origin === 'stream' && (segments[KEY_SEGMENT] || '').indexOf('.') >= 0;
  const parameter = SIGNED_PATHS.indexOf(route.path) < 0 ? '' : parameterOf(request, 'access');
  const signed = inPath || parameter !== '';
  let link = {};
  // No `await` within an expression: the runtime does not support it everywhere.
  if (!hash && inPath) {
    link = await verify(segments[KEY_SEGMENT], undefined);
  } else if (!hash && signed) {
    // The signature is of the decoded link; one that contains a percent sign or a plus itself may be decoded already.
    link = await verify(`url.${parameter}`, decoded(parameterOf(request, 'url')));
    if (!link.hash) link = await verify(`url.${parameter}`, parameterOf(request, 'url'));
  }
  const isPublic = request.method === 'OPTIONS' || route.path === PUBLIC_PATH;
  if (inPath && (hash || link.hash || isPublic)) {
    segments[KEY_SEGMENT] = segments[KEY_SEGMENT].split('.')[0];
    route.path = segments.join('/');
  }
  const admitted = hash || link.hash || (isPublic ? 'none' : '');
  if (!admitted) return signed ? refuseLink(request, link.isExpired) : refuseClient(request);
  // Nothing behind the edge needs the key itself.
  delete request.headers.authorization;
  delete request.headers['x-api-key'];
  if (request.cookies) delete request.cookies['reelay-access-key'];
  // The hash signs links for good. Streams, which the edge may request by plain HTTP, get no more than the id of the key.
  request.headers['x-reelay-access'] = { value: route.origin === 'stream' ? admitted.slice(0, 12) : admitted };
  return undefined;
}

const headerValue = (header) => (header ? header.value : '');

// The value of a query parameter, the first one.
function parameterOf(request, name) {
  const query = request.querystring || {};
  const parameter = query[name];
  if (!parameter) return '';
  return parameter.multiValue ? parameter.multiValue[0].value : parameter.value;
}

function decoded(text) {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '));
  } catch (_error) {
    return '';
  }
}

// The hash of the known key that a request carries.
async function hashOfCredentials(request) {
  const headers = request.headers;
  const bearer = BEARER.exec(headerValue(headers.authorization));
  const cookies = request.cookies || {};
  const cookie = cookies['reelay-access-key'];
  const token = bearer ? bearer[1] : headerValue(headers['x-api-key']).trim() || headerValue(cookie);
  if (!token) return undefined;
  const hash = crypto.createHash('sha256').update(token).digest('hex');
  const known = await hashById(hash.slice(0, 12));
  return known && isEqual(known, hash) ? known : undefined;
}

// The signature of a key, or of the link of a URL.
async function verify(text, link) {
  const parts = SIGNED_KEY.exec(text);
  if (!parts) return {};
  const signed = link === undefined ? parts[1] : link;
  const hash = await hashById(parts[2]);
  if (!hash) return {};
  const signature = crypto.createHmac('sha256', hash).update(`${signed}.${parts[3]}`).digest('base64url').slice(0, 22);
  if (!isEqual(signature, parts[4])) return {};
  if (Date.now() / 1000 > Number(parts[3]) + MAX_CLOCK_SKEW_SECONDS) return { isExpired: true };
  return { hash: hash };
}

async function hashById(id) {
  try {
    const value = await cf.kvs().get(`access-${id}`);
    return String(value);
  } catch (_error) {
    // The key does not exist, or the store does not respond: no request is admitted without it.
    return undefined;
  }
}

// Compares texts in constant time.
function isEqual(a, b) {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length && i < b.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}

function refuseClient(request) {
  const headers = request.headers;
  const hasKey = headers['x-api-key'] !== undefined || /^bearer\b/i.test(headerValue(headers.authorization));
  const detail = hasKey
    ? 'The access key is not valid.'
    : 'This instance is private. Send an access key as Authorization: Bearer, or as X-Api-Key.';
  const challenge = `Bearer realm="Reelay"${hasKey ? ', error="invalid_token"' : ''}`;
  const problem = { type: '/problems/unauthorized', title: 'Unauthorized', status: 401, detail: detail };
  return answer(request, problem, { 'www-authenticate': { value: challenge } });
}

function refuseLink(request, isExpired) {
  const detail = isExpired
    ? 'The link has expired. Resolve it again.'
    : 'The signature of the link is not valid: it was changed, or its access key was removed.';
  const problem = { type: '/problems/link-refused', title: 'Forbidden', status: 403, detail: detail };
  return answer(request, problem, {});
}
