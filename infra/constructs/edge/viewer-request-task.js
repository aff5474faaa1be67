// The part of the viewer-request function that selects the origin where streams come from a task that runs on demand.

// A public DNS name of EC2, without a port; addresses are rejected.
const HOST = /^(?=.*[a-z])[a-z0-9.-]+$/;
const TASK_PORT = 8080;
// Seconds. The address of a stopped task accepts no connection: the client waits no longer than this.
const CONNECT_TIMEOUT_SECONDS = 2;
const READ_TIMEOUT_SECONDS = 60;

// Selects the registered task for streams, or the wake function while no task is registered. A registration expires, because the
// address of a stopped task may later belong to another customer of AWS.
// biome-ignore lint/correctness/noUnusedVariables: the handler of viewer-request.js calls it
async function selectOrigin(id, request) {
  if (id !== 'stream') {
    cf.selectRequestOriginById(id);
    return;
  }
  const task = await registeredTask();
  if (!task) {
    cf.selectRequestOriginById('wake');
    return;
  }
  cf.updateRequestOrigin({
    domainName: task.host,
    // The address is reached by plain HTTP: `core/http/access-secrets.ts` accepts the signature for a minute.
    customHeaders: { 'x-reelay-origin': signatureOf(request, task.secret) },
    originAccessControlConfig: { enabled: false },
    connectionAttempts: 1,
    timeouts: { connectionTimeout: CONNECT_TIMEOUT_SECONDS, readTimeout: READ_TIMEOUT_SECONDS },
    customOriginConfig: { port: TASK_PORT, protocol: 'http', sslProtocols: ['TLSv1.2'] },
  });
}

function signatureOf(request, secret) {
  const now = Math.floor(Date.now() / 1000);
  const signed = `${request.method} ${request.uri} ${now}`;
  return `${now}.${crypto.createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

// Parses `host|secret|expires`, expires in epoch seconds. Undefined: no task is registered.
async function registeredTask() {
  let lease;
  try {
    lease = await cf.kvs().get('host');
  } catch (_error) {
    // The key does not exist, or the store does not respond.
    return undefined;
  }
  const parts = String(lease).split('|');
  const isValid = parts.length === 3 && parts[1] !== '' && Number(parts[2]) * 1000 > Date.now();
  return isValid && HOST.test(parts[0]) ? { host: parts[0], secret: parts[1] } : undefined;
}
