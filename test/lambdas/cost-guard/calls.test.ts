import { createServer, type IncomingMessage } from 'node:http';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { type AwsCall, createAwsCall } from '../../../lambdas/aws-call.ts';
import {
  createApiThrottle,
  createConcurrencyLimit,
  createEdgeSwitch,
  createHostLimit,
  createHostWatch,
  createMetricReader,
  createReservation,
} from '../../../lambdas/cost-guard/index.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';

const CREDENTIALS = { accessKeyId: 'an-id', secretAccessKey: 'a-secret', sessionToken: 'a-token' };
const XML = `<GetMetricStatisticsResponse><GetMetricStatisticsResult><Datapoints>
  <member><Timestamp>2026-11-23T00:01:00Z</Timestamp><Sum>1.5E9</Sum><Unit>Bytes</Unit></member>
  <member><Unit>Bytes</Unit><Sum>2.0</Sum><Timestamp>2026-11-23T00:00:00Z</Timestamp></member>
</Datapoints></GetMetricStatisticsResult></GetMetricStatisticsResponse>`;

/** A server that answers everything alike, and what it was asked. */
async function startService(status: number, body: string) {
  const asked: { headers: IncomingMessage['headers']; body: URLSearchParams }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    asked.push({ headers: request.headers, body: new URLSearchParams(Buffer.concat(chunks).toString()) });
    response.writeHead(status).end(body);
  });
  const { url: endpoint } = closeAfterwards(await listen(server));
  const { config } = new LambdaClient({ region: 'eu-central-1', credentials: CREDENTIALS });
  return { asked, call: createAwsCall(config, endpoint) };
}

describe('createMetricReader', () => {
  const metric = {
    namespace: 'AWS/CloudFront',
    name: 'BytesDownloaded',
    statistic: 'Sum' as const,
    dimensions: { DistributionId: 'E1', Region: 'Global' },
    region: 'us-east-1',
    usd: 1,
    unseenMinutes: 7,
  };
  const MIDNIGHT = Date.parse('2026-11-23T00:00:00Z') / 1000;

  it('asks for the minutes of a metric in its region, signed, and reads them', async () => {
    const { asked, call } = await startService(200, XML);
    const { minutes } = await createMetricReader(call, 'eu-central-1')(metric, MIDNIGHT, MIDNIGHT + 120);
    expect(minutes).toEqual([
      [MIDNIGHT + 60, 1.5e9],
      [MIDNIGHT, 2],
    ]);
    const [{ headers, body } = { headers: {}, body: new URLSearchParams() }] = asked;
    expect(Object.fromEntries(body)).toEqual({
      Action: 'GetMetricStatistics',
      Version: '2010-08-01',
      Namespace: 'AWS/CloudFront',
      MetricName: 'BytesDownloaded',
      StartTime: '2026-11-23T00:00:00.000Z',
      EndTime: '2026-11-23T00:02:00.000Z',
      Period: '60',
      'Statistics.member.1': 'Sum',
      'Dimensions.member.1.Name': 'DistributionId',
      'Dimensions.member.1.Value': 'E1',
      'Dimensions.member.2.Name': 'Region',
      'Dimensions.member.2.Value': 'Global',
    });
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=an-id\/\d{8}\/us-east-1\/monitoring\/aws4_request, SignedHeaders=[\w;-]*content-type;host;/,
    );
    expect(headers['x-amz-security-token']).toBe('a-token');
  });

  it('fails for an error, and for values that it cannot read', async () => {
    const denied = await startService(403, '<Error><Code>AccessDenied</Code></Error>');
    await expect(createMetricReader(denied.call, 'eu-central-1')(metric, MIDNIGHT, MIDNIGHT + 60)).rejects.toThrow(
      'GetMetricStatistics answered 403: <Error><Code>AccessDenied</Code></Error>',
    );
    const odd = await startService(200, XML.replace('1.5E9', ''));
    await expect(createMetricReader(odd.call, 'eu-central-1')(metric, MIDNIGHT, MIDNIGHT + 60)).rejects.toThrow(
      'CloudWatch sent an unexpected answer for AWS/CloudFront BytesDownloaded',
    );
  });
});

describe('createHostLimit', () => {
  it('ends the registration of the stream host and stops it, once, while closed', async () => {
    const done: unknown[] = [];
    let isWanted = true;
    const limit = createHostLimit({
      store: { write: async (value) => `version ${done.push(['store', value])}` },
      service: {
        isWanted: async () => isWanted,
        stop: async () => {
          if (done.length === 1) throw new Error('Rate exceeded');
          isWanted = false;
          done.push('stop');
        },
      },
    });
    const run = (isClosed: boolean) => limit(isClosed).catch((error: Error) => done.push(error.message));
    for (const isClosed of [false, true, true, true, false]) await run(isClosed);
    expect(done).toEqual([['store', undefined], 'Rate exceeded', ['store', undefined], 'stop']);
  });
});

describe('createHostWatch', () => {
  /**
   * What the watch does in each minute of a host: `r` registered for two more minutes, `m` not registered, `-` not wanted.
   * @returns the minute and what was done in it
   */
  const watch = async (minutes: string, fails = false) => {
    let minute = 0;
    const done: unknown[] = [];
    const look = createHostWatch({
      now: () => minute * 60_000,
      store: {
        read: async () => {
          done.push([minute, 'read']);
          return `name|secret|${(minute + (minutes[minute] === 'r' ? 2 : 0)) * 60}`;
        },
      },
      service: {
        isWanted: async () => minutes[minute] !== '-',
        stop: async () => {
          done.push([minute, 'stop']);
          if (fails) throw new Error('denied');
        },
      },
      tell: async (subject) => done.push([minute, subject]),
    });
    for (; minute < minutes.length; minute++)
      await look(false).catch((error: Error) => done.push([minute, error.message]));
    return done;
  };
  const stopped = (minute: number) => [
    [minute, 'read'],
    [minute, 'stop'],
    [minute, 'Reelay: the stream host does not start'],
  ];
  const quarter = (state: string) => state.repeat(15);

  it.each([
    ['stops a host that never registers, after 15 minutes', `${quarter('m')}m`, stopped(15)],
    [
      'leaves one that comes up late, and reads again when its registration ends',
      `${quarter('m')}rrr`,
      [
        [15, 'read'],
        [17, 'read'],
      ],
    ],
    ['stops one that came up and is gone', `${quarter('r')}rmm`, [[15, 'read'], ...stopped(17)]],
    ['reads nothing for one that is wanted for less', `${quarter('m').slice(1)}-${quarter('m')}`, []],
    ['reads nothing while no stream host is wanted', quarter('--'), []],
    ['stops a second one too', `${quarter('m')}m-${quarter('m')}m`, [...stopped(15), ...stopped(32)]],
  ])('%s', async (_, minutes, expected) => expect(await watch(minutes)).toEqual(expected));

  it('tries again in the next minute where ECS refuses', async () => {
    const refused = (minute: number) => [
      [minute, 'read'],
      [minute, 'stop'],
      [minute, 'denied'],
    ];
    expect(await watch(`${quarter('m')}mm`, true)).toEqual([...refused(15), ...refused(16)]);
  });
});

describe('createConcurrencyLimit', () => {
  /** Lambda with a reservation, which refuses more than `quota`, or answers nothing. */
  function createFixture({ quota = 900, reserved = undefined as number | undefined, isDown = false } = {}) {
    const lambda = new LambdaClient({ region: 'eu-central-1' });
    const world = { reserved, isDown };
    const changes: unknown[] = [];
    lambda.send = async (command: { constructor: { name: string }; input: object }) => {
      if (world.isDown) throw new Error('No answer');
      if (/^_?Get/.test(command.constructor.name)) return { ReservedConcurrentExecutions: world.reserved } as never;
      const { ReservedConcurrentExecutions: wanted } = command.input as { ReservedConcurrentExecutions?: number };
      changes.push(wanted);
      if ((wanted ?? 0) > quota)
        throw Object.assign(new Error('below its minimum'), { name: 'InvalidParameterValueException' });
      world.reserved = wanted;
      return {} as never;
    };
    const options = { lambda, functionName: 'f', log: silentLog };
    return {
      world,
      changes,
      limit: createConcurrencyLimit({ ...options, limit: 8 }),
      reserve: createReservation({ ...options, limit: 2 }),
    };
  }

  it.each<[what: string, of: Parameters<typeof createFixture>[0], closed: boolean[], expected: unknown[]]>([
    [
      'reserves the limit, 0 while closed, and the limit again',
      {},
      [false, false, true, true, false, false],
      [8, 0, 8],
    ],
    [
      'leaves a new account to its quota, closes it nevertheless, and opens it by reserving nothing',
      { quota: 0 },
      [false, false, true, false, false],
      [8, 0, undefined],
    ],
    ['opens a new account that an earlier process has closed', { quota: 0, reserved: 0 }, [false], [8, undefined]],
  ])('%s', async (_, of, closed, expected) => {
    const { limit, changes, world } = createFixture(of);
    for (const isClosed of closed) await limit(isClosed);
    expect(changes).toEqual(expected);
    expect(world.reserved).toBe(expected.at(-1));
  });

  it('keeps executions reserved while closed, and fails for other errors', async () => {
    const { world, changes, limit, reserve } = createFixture();
    for (const isClosed of [false, true, false]) await reserve(isClosed);
    expect([changes, world.reserved]).toEqual([[2], 2]);
    world.isDown = true;
    for (const act of [limit, reserve]) await expect(act(true)).rejects.toThrow('No answer');
  });
});

describe('createApiThrottle', () => {
  const rates = (rate: number) => ({ throttlingRateLimit: rate, throttlingBurstLimit: 2 * rate });
  /** A stage as it is deployed. */
  const createStage = () => {
    const stage = {
      defaultRouteSettings: { detailedMetricsEnabled: false, ...rates(10) },
      routeSettings: { 'ANY /api/Get': rates(2), 'ANY /mcp': rates(2) },
    };
    const changes: unknown[] = [];
    const call: AwsCall = async ({ method, path, body }) => {
      expect(path).toBe('/v2/apis/an-api/stages/%24default');
      if (method === 'GET') return { text: JSON.stringify(stage) };
      changes.push(JSON.parse(body ?? ''));
      return { text: JSON.stringify(Object.assign(stage, changes.at(-1))) };
    };
    return { stage, changes, call };
  };
  const throttleOf = (call: AwsCall) =>
    createApiThrottle({
      call,
      region: 'eu-central-1',
      apiId: 'an-api',
      rates: { all: rates(10), resolves: rates(2) },
    });

  it('admits nothing while closed, and what was deployed again', async () => {
    const { stage, changes, call } = createStage();
    const deployed = structuredClone(stage);
    const throttle = throttleOf(call);
    for (const isClosed of [false, true, true]) await throttle(isClosed);
    expect(changes).toEqual([
      {
        defaultRouteSettings: { detailedMetricsEnabled: false, ...rates(0) },
        routeSettings: { 'ANY /api/Get': rates(0), 'ANY /mcp': rates(0) },
      },
    ]);
    for (const isClosed of [false, false]) await throttle(isClosed);
    expect(changes).toHaveLength(2);
    expect(stage).toEqual(deployed);
  });

  it('fails where it is refused', () =>
    expect(throttleOf(async () => Promise.reject(new Error('refused')))(true)).rejects.toThrow('refused'));
});

describe('createEdgeSwitch', () => {
  const configOf = (isOn: boolean) =>
    `<DistributionConfig><Logging><Enabled>false</Enabled></Logging><PriceClass>PriceClass_All</PriceClass><Enabled>${isOn}</Enabled></DistributionConfig>`;

  it('changes whether the distribution is enabled, and nothing else of the version that it has read', async () => {
    const changes: unknown[] = [];
    let isOn = true;
    const switchEdge = createEdgeSwitch({
      distributionId: 'E1',
      call: async ({ method, path, body, headers }) => {
        if (method === 'GET') return { text: configOf(isOn), etag: 'a-version' };
        changes.push([method, path, headers['if-match'], body]);
        isOn = !isOn;
        return { text: '' };
      },
    });
    const hasChanged = [];
    for (const wanted of [true, false, false, true]) hasChanged.push(await switchEdge(wanted));
    expect(hasChanged).toEqual([false, true, false, true]);
    const change = (to: boolean) => ['PUT', '/2020-05-31/distribution/E1/config', 'a-version', configOf(to)];
    expect(changes).toEqual([change(false), change(true)]);
  });

  it('fails for an answer that it cannot read', () =>
    expect(createEdgeSwitch({ distributionId: 'E1', call: async () => ({ text: '<html>' }) })(false)).rejects.toThrow(
      'unexpected form',
    ));
});
