import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Log, silentLog } from '../../core/log/index.ts';
import { createLabelValues, operationOf, startMetricsServer } from '../../local/service/service-metrics.ts';
import { itWith } from '../support/clients.ts';
import { runProgram } from '../support/media-tools.ts';
import { openResponse, sendRequest } from '../support/request.ts';
import { pathTo, startLocal } from './local-service.ts';

const EXAMPLES = resolve(import.meta.dirname, '../../docs/examples');
let metricsUrl = '';
const info: Log['info'] = (message, fields) => {
  if (message === 'Metrics are served') metricsUrl = `http://127.0.0.1:${fields?.port}/metrics`;
};
const { service, origin, root } = await startLocal({
  log: { ...silentLog, info },
  settings: {
    METRICS_PORT: '0',
    BASE_PATH: '/media',
    MAX_STREAMS: '7',
    MAX_STREAMS_PER_CLIENT: '1',
    MAX_FFMPEG: '3',
  },
});

/** Samples by name and labels, as Prometheus reads them. */
async function scrape(): Promise<ReadonlyMap<string, number>> {
  const { body } = await sendRequest(metricsUrl);
  return new Map(
    body
      .toString()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line): [string, number] => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), Number(line.slice(end + 1))];
      }),
  );
}
const sampleOf = async (name: string) => (await scrape()).get(name);
const send = (path: string, options = {}) => sendRequest(service.baseUrl + path, options);
const resolveLink = async (path: string) =>
  JSON.parse((await send(pathTo('Fetch/GetResource', origin.url(path)))).body.toString());
const streamOf = async (path: string, side: 'video' | 'audio' = 'video') =>
  `/api/Stream/Media/${(await resolveLink(path)).mediaItems[0][side].bestQualityKey}`;

describe('metrics', () => {
  it('count resolves by outcome and site, streams, bytes and requests', async () => {
    const path = await streamOf('/files/clip.mp4');
    await resolveLink('/files/missing.mp4');
    const { body } = await send(path);
    await send('/media/api/App');
    const requests = (operation: string) =>
      `reelay_http_requests_total{operation="${operation}",method="GET",status="200"}`;
    for (const operation of ['Media', 'GetAppInfo']) await expect.poll(() => sampleOf(requests(operation))).toBe(1);
    // The service ends a stream a moment after its client has received it.
    await expect.poll(() => sampleOf('reelay_streams_running')).toBe(0);

    const samples = await scrape();
    expect(Object.fromEntries(samples)).toMatchObject({
      'reelay_resolves_total{outcome="resolved",site="Generic"}': 1,
      'reelay_resolves_total{outcome="not found",problem="not-found",site="unknown"}': 1,
      reelay_resolve_seconds_count: 2,
      reelay_streams_total: 1,
      'reelay_http_response_head_seconds_count{operation="GetResource"}': 2,
      reelay_ytdlp_process_per_link: 0,
    });
    for (const direction of ['sent', 'received'])
      expect(samples.get(`reelay_${direction}_bytes_total`)).toBeGreaterThan(body.length);
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1e7);
    expect([...samples.keys()].filter((name) => name.startsWith('reelay_tool_info'))).toHaveLength(2);
  });

  it('count conversions, refusals and limits', async () => {
    const path = await streamOf('/files/tone.m4a', 'audio');
    await send(`${path}?format=mp3`);
    await expect.poll(() => sampleOf('reelay_streams_running')).toBe(0);
    const { body } = await openResponse(service.baseUrl + (await streamOf('/slow/long.mp4?rate=100000')));
    body.on('error', () => undefined);
    expect((await send(path)).status).toBe(429);
    body.destroy();
    expect(Object.fromEntries(await scrape())).toMatchObject({
      'reelay_conversions_total{format="mp3"}': 1,
      'reelay_admission_refused_total{limit="streams of a client"}': 1,
      reelay_streams_limit: 7,
      reelay_ffmpeg_limit: 3,
    });
  });

  it('name the outgoing address that a site blocks', async () => {
    expect(await resolveLink('/trouble/429')).toMatchObject({ type: '/problems/rate-limited' });
    const rest = 'reelay_outgoing_address_rest_seconds{site="127.0.0.1",address="direct"}';
    expect(await sampleOf(rest)).toBeGreaterThan(200);
  });

  it('have labels without links, keys and other text of clients', async () => {
    await send('/api/Stream/Media/SECRET-KEY?token=SECRET');
    await send('/SECRET', { method: 'PROPFIND' });
    const names = [...(await scrape()).keys()].join('\n');
    expect(names).toContain('operation="page",method="other"');
    expect(names).not.toContain('SECRET');
    expect(names).not.toContain(origin.host);
  });

  it('are served on their own port and path only', async () => {
    expect((await send('/metrics')).status).toBe(404);
    expect((await sendRequest(metricsUrl.replace('/metrics', '/'))).status).toBe(404);
    expect((await sendRequest(metricsUrl, { method: 'POST' })).status).toBe(405);
  });

  // No page can read them by DNS rebinding.
  it.each([
    [[], '127.0.0.1', 'rebound.example', 421],
    [[], '127.0.0.1', 'localhost', 200],
    [[], '0.0.0.0', 'metrics.lan', 200],
    [['media.example'], '0.0.0.0', 'metrics.lan', 421],
    [['media.example'], '0.0.0.0', 'media.example', 200],
    [['media.example'], '127.0.0.2', '127.0.0.2', 200],
  ])('with ALLOWED_HOSTS %j on %s are answered to %s with %d', async (allowedHosts, metricsHost, host, status) => {
    const rendering = { render: async () => ({ contentType: 'text/plain', text: '' }) };
    const server = await startMetricsServer(rendering, { metricsHost, metricsPort: 0, allowedHosts }, silentLog);
    const address = metricsHost === '0.0.0.0' ? '127.0.0.1' : metricsHost;
    const sent = { headers: { host: `${host}:${server.port}` } };
    const answer = await sendRequest(`http://${address}:${server.port}/metrics`, sent);
    await server.close();
    expect(answer.status).toBe(status);
  });

  it.each([
    ['/API/fetch/getresource?url=x', 'GetResource'],
    ['/api/Stream/Combined/key', 'Combined'],
    ['/api/stream/segments/key', 'SkipSegments'],
    ['/api/stream/archive?url=x', 'ArchiveList'],
    ['/api/Stream/Archive/Progress/a', 'ArchiveProgress'],
    ['/api/Stream/Archive/key', 'Archive'],
    ['/api/App/extra', 'page'],
  ])('have the operation of the path %s as label: %s', (path, name) => expect(operationOf(path)).toBe(name));

  it('bound the values of a label', () => {
    const labelOf = createLabelValues(2);
    expect(['a', 'b', 'c', 'a'].map(labelOf)).toEqual(['a', 'b', 'other', 'a']);
  });
});

describe('examples for Prometheus and Grafana', () => {
  const namesIn = (text: string) => new Set(text.match(/\b(?:reelay|process|nodejs)_\w+/g) ?? []);

  it.each(['alerts.yaml', 'grafana-dashboard.json'])('%s uses existing metrics', async (file) => {
    const { body } = await sendRequest(metricsUrl);
    const existing = namesIn(body.toString());
    const used = namesIn(await readFile(join(EXAMPLES, file), 'utf8'));
    expect(used.size).toBeGreaterThan(3);
    expect([...used].filter((name) => !existing.has(name))).toEqual([]);
  });

  itWith('promtool').each([
    { tools: [], isFiring: true },
    { tools: ['FFmpeg'], isFiring: true },
    { tools: ['FFmpeg', 'yt-dlp'], isFiring: false },
  ])('report missing tools: there are $tools', async ({ tools, isFiring }) => {
    const series = ['reelay_info', ...tools.map((tool) => `reelay_tool_info{tool="${tool}"}`)];
    const query = 'count(ALERTS{alertname="ReelayNoTools",alertstate="firing"})';
    const test = {
      interval: '1m',
      input_series: series.map((name) => ({ series: name, values: '1x60' })),
      promql_expr_test: [{ expr: query, eval_time: '40m', exp_samples: isFiring ? [{ labels: '{}', value: 1 }] : [] }],
    };
    const file = join(root, `missing-${tools.length}.json`);
    await writeFile(file, JSON.stringify({ rule_files: [join(EXAMPLES, 'alerts.yaml')], tests: [test] }));
    expect(await runProgram('promtool', ['test', 'rules', file])).toMatchObject({ code: 0 });
  });

  itWith('promtool')('are accepted by promtool', async () => {
    expect(await runProgram('promtool', ['check', 'rules', join(EXAMPLES, 'alerts.yaml')])).toMatchObject({ code: 0 });
    const { body } = await sendRequest(metricsUrl);
    const names = [...namesIn(body.toString())].filter((name) => name.startsWith('reelay_'));
    // Every query of the dashboard is a valid rule.
    const { panels } = JSON.parse(await readFile(join(EXAMPLES, 'grafana-dashboard.json'), 'utf8'));
    const queries: string[] = panels.flatMap((panel: { targets: { expr: string }[] }) =>
      panel.targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
    );
    expect(names.length).toBeGreaterThan(10);
    const rules = queries.map((expr, index) => ({ record: `dashboard:query${index}`, expr }));
    await writeFile(join(root, 'queries.json'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(await runProgram('promtool', ['check', 'rules', join(root, 'queries.json')])).toMatchObject({ code: 0 });

    await writeFile(join(root, 'metrics.txt'), body);
    const check = await runProgram('sh', ['-c', 'promtool check metrics <"$0"', join(root, 'metrics.txt')]);
    expect(check).toEqual({ code: 0, output: '' });
  });
});
