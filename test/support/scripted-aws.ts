import { randomUUID } from 'node:crypto';
import { Agent, createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import { EC2Client } from '@aws-sdk/client-ec2';
import { ECSClient } from '@aws-sdk/client-ecs';
import { listen } from './listen.ts';

/** An ECS task, whose state the test sets. */
export interface ScriptedTask {
  readonly taskArn: string;
  readonly taskDefinitionArn: string;
  readonly group: string;
  readonly createdAt: number;
  readonly clientToken: string;
  readonly startedBy?: string;
  readonly overrides: unknown;
  lastStatus: string;
  desiredStatus: string;
  startedAt?: number;
  stoppedReason?: string;
  attachments: { type: string; details: { name: string; value: string }[] }[];
}

/** The parts of ECS, EC2 and a CloudFront key-value store that the on-demand host uses, over HTTP, controlled by a test. */
export interface ScriptedAws {
  readonly ecs: ECSClient;
  readonly ec2: EC2Client;
  readonly keyValueStore: CloudFrontKeyValueStoreClient;
  /** Endpoint of all three. */
  readonly endpoint: string;
  readonly storeArn: string;
  /** Oldest first. */
  readonly tasks: ScriptedTask[];
  /** Content of the key-value store. */
  readonly store: Map<string, string>;
  /** Public DNS names by network interface. */
  readonly names: Map<string, string>;
  /** Operations in order: `RunTask`, `PutKey`, … */
  readonly calls: string[];
  /** Called before each operation; a returned refusal replaces its response. */
  interfere: ((operation: string) => Refusal | 'hang up' | 'answer is lost' | undefined) | undefined;
  /** Sets a task to RUNNING, with or without a network interface that has this public name. */
  run(task: ScriptedTask, name?: string): void;
  /** Writes to the store as another client; undefined removes the key. */
  changeStore(key: string, value: string | undefined): void;
  stop(task: ScriptedTask, reason: string): void;
  close(): Promise<void>;
}

export interface Refusal {
  readonly status?: number;
  readonly type: string;
  readonly message?: string;
  /** Body of a success, instead of an error. */
  readonly body?: unknown;
}

const CLUSTER = 'arn:aws:ecs:us-east-1:123456789012:cluster/stream';
type Fields = Readonly<Record<string, unknown>>;

/** @param now epoch milliseconds */
export async function startScriptedAws(now: () => number = Date.now): Promise<ScriptedAws> {
  const storeArn = 'arn:aws:cloudfront::123456789012:key-value-store/a1b2';
  const tasks: ScriptedTask[] = [];
  const store = new Map<string, string>();
  const names = new Map<string, string>();
  const calls: string[] = [];
  let version = 1;

  const operations: Readonly<Record<string, (input: Fields) => unknown>> = {
    RunTask: ({ clientToken, overrides, startedBy, taskDefinition }) => {
      const known = tasks.find((task) => task.clientToken === clientToken);
      const task: ScriptedTask = known ?? {
        taskArn: `${CLUSTER.replace(':cluster/', ':task/')}/${randomUUID()}`,
        taskDefinitionArn: String(taskDefinition),
        group: `family:${String(taskDefinition).replace(/:\d+$/, '')}`,
        createdAt: now() / 1000,
        clientToken: String(clientToken),
        startedBy: startedBy as string | undefined,
        overrides,
        lastStatus: 'PROVISIONING',
        desiredStatus: 'RUNNING',
        attachments: [],
      };
      if (!known) tasks.push(task);
      return { tasks: [task], failures: [] };
    },
    // Pages of one task, so that a caller that ignores pagination fails.
    ListTasks: ({ desiredStatus = 'RUNNING', family, nextToken = '0' }) => {
      const found = tasks.filter(
        (task) => task.desiredStatus === desiredStatus && (!family || task.group === `family:${family}`),
      );
      const at = Number(nextToken);
      return {
        taskArns: found.slice(at, at + 1).map(({ taskArn }) => taskArn),
        ...(at + 1 < found.length && { nextToken: String(at + 1) }),
      };
    },
    DescribeTasks: ({ tasks: arns }) => ({
      tasks: tasks.filter(({ taskArn }) => (arns as string[]).includes(taskArn)),
      failures: (arns as string[])
        .filter((arn) => !tasks.some(({ taskArn }) => taskArn === arn))
        .map((arn) => ({ arn, reason: 'MISSING' })),
    }),
    StopTask: ({ task: arn }) => {
      const task = tasks.find(({ taskArn }) => taskArn === arn);
      if (task) task.desiredStatus = 'STOPPED';
      return { task };
    },
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
    const act = () => {
      if (ifMatch !== `v${version}`) return refusal(409, 'ConflictException');
      if (method === 'DELETE' && !store.has(key)) return refusal(404, 'ResourceNotFoundException');
      changeStore(key, method === 'PUT' ? JSON.parse(body).Value : undefined);
      return etag();
    };
    return { operation: method === 'PUT' ? 'PutKey' : 'DeleteKey', act };
  };

  const networkInterfaces = (form: URLSearchParams) => {
    const asked = [...form].filter(([name]) => name.startsWith('Filter.1.Value.')).map(([, value]) => value);
    const items = asked
      .filter((id) => names.has(id))
      .map((id) => {
        const association = `<association><publicDnsName>${names.get(id)}</publicDnsName></association>`;
        return `<item><networkInterfaceId>${id}</networkInterfaceId>${association}</item>`;
      });
    return `<DescribeNetworkInterfacesResponse><networkInterfaceSet>${items.join('')}</networkInterfaceSet></DescribeNetworkInterfacesResponse>`;
  };

  const respond = (request: IncomingMessage, body: string): Reply => {
    const { method = '', url = '', headers } = request;
    const target = String(headers['x-amz-target'] ?? '').split('.')[1];
    if (target) return { operation: target, act: () => ({ body: operations[target]?.(JSON.parse(body)) }) };
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
    const { status = 200, headers = {}, body = {} } = reply.act();
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
    tasks,
    store,
    names,
    calls,
    interfere: undefined,
    changeStore,
    run(task, name) {
      const id = `eni-${task.taskArn.slice(-8)}`;
      task.attachments = [{ type: 'ElasticNetworkInterface', details: [{ name: 'networkInterfaceId', value: id }] }];
      if (name) names.set(id, name);
      task.startedAt = now() / 1000;
      task.lastStatus = 'RUNNING';
    },
    stop(task, reason) {
      task.desiredStatus = 'STOPPED';
      task.lastStatus = 'STOPPED';
      task.stoppedReason = reason;
    },
    close() {
      for (const client of clients) client.destroy();
      httpAgent.destroy();
      return close();
    },
  };
  return aws;
}

interface Reply {
  readonly operation: string;
  /** Performs the operation unless it was refused. */
  readonly act: () => {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
}
