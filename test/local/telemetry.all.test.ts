import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { type Log, silentLog } from '../../core/log/index.ts';
import { startService } from '../../local/service/service.ts';
import { createLabelValues, operationOf, startMetricsServer } from '../../local/service/service-metrics.ts';
import { startOrigin } from '../origin/server.ts';
import { itWith } from '../support/clients.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { runProgram } from '../support/media-tools.ts';
import { openResponse, sendRequest } from '../support/request.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createToolsFolder } from '../support/tools-folder.ts';

const EXAMPLES = resolve(import.meta.dirname, '../../docs/examples');
const root = await temporaryFolder();
const origin = closeAfterwards(await startOrigin());
let metricsUrl = '';
const settings = readSettings({
  DATA_DIR: join(root, 'data'),
  TOOLS_DIR: await createToolsFolder(join(root, 'tools')),
  PORT: '0',
  TOOLS_CHANNEL: 'stable',
  EGRESS_ALLOW: origin.host,
  METRICS_PORT: '0',
  BASE_PATH: '/media',
  MAX_STREAMS: '7',
  MAX_STREAMS_PER_CLIENT: '1',
  MAX_FFMPEG: '3',
});
const info: Log['info'] = (message, fields) => {
  if (message === 'Metrics are served') metricsUrl = `http://127.0.0.1:${fields?.port}/metrics`;
};
const service = closeAfterwards(await startService({ settings, hasPage: false, log: { ...silentLog, info } }));
await service.ready;

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
const resolveLink = async (link: string) => {
  const query = new URLSearchParams({ url: link });
  const { body } = await sendRequest(`${service.baseUrl}/api/Fetch/GetResource?${query}`);
  return JSON.parse(body.toString());
};

describe('metrics', () => {
  it('count resolves by outcome and site, streams, bytes and requests', async () => {
    const { mediaItems } = await resolveLink(origin.url('/files/clip.mp4'));
    await resolveLink(origin.url('/files/missing.mp4'));
    const path = `/api/Stream/Media/${mediaItems[0].video.bestQualityKey}`;
    const { body } = await sendRequest(service.baseUrl + path);
    const stream = 'reelay_http_requests_total{operation="Media",method="GET",status="200"}';
    await expect.poll(async () => (await scrape()).get(stream)).toBe(1);
    // The service ends a stream a moment after its client has received it.
    await expect.poll(async () => (await scrape()).get('reelay_streams_running')).toBe(0);

    const samples = await scrape();
    expect(samples.get('reelay_resolves_total{outcome="resolved",site="Generic"}')).toBe(1);
    expect(samples.get('reelay_resolves_total{outcome="not found",problem="not-found",site="unknown"}')).toBe(1);
    expect(samples.get('reelay_resolve_seconds_count')).toBe(2);
    expect(samples.get('reelay_streams_total')).toBe(1);
    expect(samples.get('reelay_sent_bytes_total')).toBeGreaterThan(body.length);
    expect(samples.get('reelay_received_bytes_total')).toBeGreaterThan(body.length);
    expect(samples.get('reelay_http_response_head_seconds_count{operation="GetResource"}')).toBe(2);
    await sendRequest(`${service.baseUrl}/media/api/App`);
    const below = 'reelay_http_requests_total{operation="GetAppInfo",method="GET",status="200"}';
    await expect.poll(async () => (await scrape()).get(below)).toBe(1);
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1e7);
    expect([...samples.keys()].filter((name) => name.startsWith('reelay_tool_info'))).toHaveLength(2);
    expect(samples.get('reelay_ytdlp_process_per_link')).toBe(0);
  });

  it('count conversions, refusals and limits', async () => {
    const { mediaItems } = await resolveLink(origin.url('/files/tone.m4a'));
    const path = `/api/Stream/Media/${mediaItems[0].audio.bestQualityKey}`;
    await sendRequest(`${service.baseUrl}${path}?format=mp3`);
    await expect.poll(async () => (await scrape()).get('reelay_streams_running')).toBe(0);
    const slow = await resolveLink(origin.url('/slow/long.mp4?rate=100000'));
    const { body } = await openResponse(
      `${service.baseUrl}/api/Stream/Media/${slow.mediaItems[0].video.bestQualityKey}`,
    );
    body.on('error', () => undefined);
    expect((await sendRequest(service.baseUrl + path)).status).toBe(429);
    body.destroy();

    const samples = await scrape();
    expect(samples.get('reelay_conversions_total{format="mp3"}')).toBe(1);
    expect(samples.get('reelay_admission_refused_total{limit="streams of a client"}')).toBe(1);
    expect(samples.get('reelay_streams_limit')).toBe(7);
    expect(samples.get('reelay_ffmpeg_limit')).toBe(3);
  });

  it('name the outgoing address that a site blocks', async () => {
    const problem = await resolveLink(origin.url('/trouble/429'));
    expect(problem).toMatchObject({ type: '/problems/rate-limited' });
    const samples = await scrape();
    const rest = samples.get('reelay_outgoing_address_rest_seconds{site="127.0.0.1",address="direct"}');
    expect(rest).toBeGreaterThan(200);
  });

  it('have labels without links, keys and other text of clients', async () => {
    await sendRequest(`${service.baseUrl}/api/Stream/Media/SECRET-KEY?token=SECRET`, { method: 'GET' });
    await sendRequest(`${service.baseUrl}/SECRET`, { method: 'PROPFIND' });
    const names = [...(await scrape()).keys()].join('\n');
    expect(names).toContain('operation="page",method="other"');
    expect(names).not.toContain('SECRET');
    expect(names).not.toContain(origin.host);
  });

  it('are served on their own port and path only', async () => {
    expect((await sendRequest(`${service.baseUrl}/metrics`)).status).toBe(404);
    expect((await sendRequest(metricsUrl.replace('/metrics', '/'))).status).toBe(404);
    expect((await sendRequest(metricsUrl, { method: 'POST' })).status).toBe(405);
  });

  it('are answered to known hosts only, so that no page can read them by DNS rebinding', async () => {
    const { port } = new URL(metricsUrl);
    const statusFor = async (host: string) => (await sendRequest(metricsUrl, { headers: { host } })).status;
    expect(await statusFor(`rebound.example:${port}`)).toBe(421);
    expect(await statusFor(`localhost:${port}`)).toBe(200);
  });

  it.each([
    [[], '0.0.0.0', 'metrics.lan', 200],
    [['media.example'], '0.0.0.0', 'metrics.lan', 421],
    [['media.example'], '0.0.0.0', 'media.example', 200],
    [['media.example'], '127.0.0.2', '127.0.0.2', 200],
  ])('with ALLOWED_HOSTS %j on %s are answered to %s with %d', async (allowedHosts, metricsHost, host, status) => {
    const rendering = { render: async () => ({ contentType: 'text/plain', text: '' }) };
    const server = await startMetricsServer(rendering, { metricsHost, metricsPort: 0, allowedHosts }, silentLog);
    const address = metricsHost === '0.0.0.0' ? '127.0.0.1' : metricsHost;
    const answer = await sendRequest(`http://${address}:${server.port}/metrics`, { headers: { host } });
    await server.close();
    expect(answer.status).toBe(status);
  });

  it('have the operation of a path as label', () => {
    expect(operationOf('/API/fetch/getresource?url=x')).toBe('GetResource');
    expect(operationOf('/api/Stream/Combined/key')).toBe('Combined');
    expect(operationOf('/api/stream/segments/key')).toBe('SkipSegments');
    expect(operationOf('/api/stream/archive?url=x')).toBe('ArchiveList');
    expect(operationOf('/api/Stream/Archive/Progress/a')).toBe('ArchiveProgress');
    expect(operationOf('/api/Stream/Archive/key')).toBe('Archive');
    expect(operationOf('/api/App/extra')).toBe('page');
  });

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
