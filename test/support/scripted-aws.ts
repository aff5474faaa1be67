import { Agent, createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import { EC2Client } from '@aws-sdk/client-ec2';
import { ECSClient } from '@aws-sdk/client-ecs';
import { listen } from './listen.ts';

/** The ECS service of the stream host, whose tasks the test runs. */
export interface ScriptedService {
  status: string;
  desiredCount: number;
  runningCount: number;
}

/** What the on-demand host uses of ECS, EC2, Lambda and a CloudFront key-value store, over HTTP, controlled by a test. */
export interface ScriptedAws {
  readonly ecs: ECSClient;
  readonly ec2: EC2Client;
  readonly keyValueStore: CloudFrontKeyValueStoreClient;
  /** Endpoint of all of them. `/metadata/ADDRESS` is the metadata of the task whose network interface has that MAC address. */
  readonly endpoint: string;
  readonly storeArn: string;
  readonly service: ScriptedService;
  /** Content of the key-value store. */
  readonly store: Map<string, string>;
  /** Public DNS names by MAC address. */
  readonly names: Map<string, string>;
  /** Operations in order: `UpdateService`, `PutKey`, … */
  readonly calls: string[];
  /** Called before each operation; a returned refusal replaces its response. */
  interfere: ((operation: string) => Refusal | 'hang up' | 'answer is lost' | undefined) | undefined;
  /** The function that tasks invoke. */
  invoked: (event: never) => Promise<unknown>;
  close(): Promise<void>;
}

export interface Refusal {
  readonly status?: number;
  readonly type: string;
  readonly message?: string;
  /** Body of a success, instead of an error. */
  readonly body?: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

export async function startScriptedAws(): Promise<ScriptedAws> {
  const storeArn = 'arn:aws:cloudfront::123456789012:key-value-store/a1b2';
  const service: ScriptedService = { status: 'ACTIVE', desiredCount: 0, runningCount: 0 };
  const store = new Map<string, string>();
  const names = new Map<string, string>();
  const calls: string[] = [];
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
  const keyValueStore = (method: string, path: string, ifMatch: string | undefined, body: string) => {
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
          aws.invoked(JSON.parse(body) as never).then(
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
    return keyValueStore(method, decodeURIComponent(url), headers['if-match'], body);
  };

  const server = createServer(async (request, response) => {
    const reply = respond(request, await text(request));
    calls.push(reply.operation);
    const interference = aws.interfere?.(reply.operation);
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
  const clients = [new ECSClient(config), new EC2Client(config), new CloudFrontKeyValueStoreClient(config)] as const;
  const aws: ScriptedAws = {
    ecs: clients[0],
    ec2: clients[1],
    keyValueStore: clients[2],
    endpoint: config.endpoint,
    storeArn,
    service,
    store,
    names,
    calls,
    interfere: undefined,
    invoked: async () => undefined,
    close() {
      for (const client of clients) client.destroy();
      httpAgent.destroy();
      return close();
    },
  };
  return aws;
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
