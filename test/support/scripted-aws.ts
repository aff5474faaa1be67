import { Agent, createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import { ECSClient } from '@aws-sdk/client-ecs';
import { listen } from './listen.ts';

/** What the on-demand host uses of ECS, EC2, Lambda and a CloudFront key-value store, over HTTP, controlled by a test. */
export type ScriptedAws = Awaited<ReturnType<typeof startScriptedAws>>;

interface Refusal {
  readonly status?: number;
  readonly type: string;
  readonly message?: string;
  /** Body of a success, instead of an error. */
  readonly body?: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

export async function startScriptedAws() {
  const storeArn = 'arn:aws:cloudfront::123456789012:key-value-store/a1b2';
  /** The ECS service of the stream host, whose tasks the test runs. */
  const service = { status: 'ACTIVE', desiredCount: 0, runningCount: 0 };
  /** Content of the key-value store. */
  const store = new Map<string, string>();
  /** Public DNS names by MAC address. */
  const names = new Map<string, string>();
  /** Operations in order: `UpdateService`, `PutKey`, … */
  const calls: string[] = [];
  const script = {
    /** Called before each operation; a returned refusal replaces its response. */
    interfere: undefined as ((operation: string) => Refusal | 'hang up' | 'answer is lost' | undefined) | undefined,
    /** The function that tasks invoke. */
    invoked: async (_event: never): Promise<unknown> => undefined,
  };
  let version = 1;

  const operations: Readonly<Record<string, (input: Fields) => unknown>> = {
    DescribeServices: () => ({ services: [service] }),
    UpdateService: (input) => ({ service: Object.assign(service, { desiredCount: input.desiredCount }) }),
  };

  const changeStore = (key: string, value: string | undefined) => {
    version++;
    if (value === undefined) store.delete(key);
    else store.set(key, value);
  };
  const refusal = (status: number, type: string) => ({ status, headers: { 'x-amzn-errortype': type } });

  /** The REST API of the store, with version checks, by `method path`. */
  const askStore = (method: string, path: string, ifMatch: string | undefined, body: string) => {
    const key = /\/keys\/([^/]+)$/.exec(path)?.[1];
    const etag = () => ({ headers: { etag: `v${version}` } });
    if (!key) return { operation: 'DescribeKeyValueStore', act: () => ({ ...etag(), body: { KvsARN: storeArn } }) };
    if (method === 'GET')
      return {
        operation: 'GetKey',
        act: () =>
          store.has(key)
            ? { body: { Key: key, Value: store.get(key), ItemCount: store.size, TotalSizeInBytes: 1 } }
            : refusal(404, 'ResourceNotFoundException'),
      };
    const act = () => {
      if (ifMatch !== `v${version}`) return refusal(409, 'ConflictException');
      if (method === 'DELETE' && !store.has(key)) return refusal(404, 'ResourceNotFoundException');
      changeStore(key, method === 'PUT' ? JSON.parse(body).Value : undefined);
      return etag();
    };
    return { operation: method === 'PUT' ? 'PutKey' : 'DeleteKey', act };
  };

  const networkInterfaces = (form: URLSearchParams) => {
    const name = names.get(form.get('Filter.1.Value.1') ?? '');
    const item = `<item><association><publicDnsName>${name}</publicDnsName></association></item>`;
    return `<DescribeNetworkInterfacesResponse><networkInterfaceSet>${name ? item : ''}</networkInterfaceSet></DescribeNetworkInterfacesResponse>`;
  };

  const respond = (request: IncomingMessage, body: string): Reply => {
    const { method = '', url = '', headers } = request;
    const target = String(headers['x-amz-target'] ?? '').split('.')[1];
    if (target) return { operation: target, act: () => ({ body: operations[target]?.(JSON.parse(body)) }) };
    if (url.startsWith('/metadata/'))
      return { operation: 'metadata', act: () => ({ body: { Networks: [{ MACAddress: url.split('/')[2] }] } }) };
    if (url.endsWith('/invocations'))
      return {
        operation: 'Invoke',
        act: () =>
          script.invoked(JSON.parse(body) as never).then(
            (answer) => ({ body: answer }),
            (error) => ({ headers: { 'x-amz-function-error': 'Unhandled' }, body: { errorMessage: String(error) } }),
          ),
      };
    if (method === 'POST')
      return {
        operation: 'DescribeNetworkInterfaces',
        act: () => ({ body: networkInterfaces(new URLSearchParams(body)) }),
      };
    if (!headers.authorization?.startsWith('AWS4-ECDSA-P256-SHA256 '))
      return { operation: 'unsigned', act: () => refusal(403, 'AccessDeniedException') };
    return askStore(method, decodeURIComponent(url), headers['if-match'], body);
  };

  const server = createServer(async (request, response) => {
    const reply = respond(request, await text(request));
    calls.push(reply.operation);
    const interference = script.interfere?.(reply.operation);
    if (interference === 'hang up') return void request.socket.destroy();
    if (typeof interference === 'object') {
      const { status = 400, type, message = '', body = { __type: type, message } } = interference;
      return void response.writeHead(status, { 'x-amzn-errortype': type }).end(JSON.stringify(body));
    }
    const { status = 200, headers = {}, body = {} } = await reply.act();
    if (interference === 'answer is lost') return void request.socket.destroy();
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });

  const { port, close } = await listen(server);
  // The client of the store prefixes the host name with the account.
  const httpAgent = new Agent({
    lookup: (_host, { all }, found) =>
      all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4),
  });
  const config = {
    endpoint: `http://localhost:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
    requestHandler: { httpAgent },
  };
  const [ecs, keyValueStore] = [new ECSClient(config), new CloudFrontKeyValueStoreClient(config)];
  /** `/metadata/ADDRESS` below it is the metadata of the task whose network interface has that MAC address. */
  const { endpoint } = config;
  return Object.assign(script, {
    ecs,
    keyValueStore,
    endpoint,
    storeArn,
    service,
    store,
    names,
    calls,
    close() {
      for (const client of [ecs, keyValueStore]) client.destroy();
      httpAgent.destroy();
      return close();
    },
  });
}

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Reply {
  readonly operation: string;
  /** Performs the operation unless it was refused. */
  readonly act: () => Answer | Promise<Answer>;
}
