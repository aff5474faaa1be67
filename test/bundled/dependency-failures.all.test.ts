import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Result } from '../../lambdas/http-handler.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { takeCrashReports } from '../support/crash-reports.ts';
import { listen } from '../support/listen.ts';
import { documented } from './documented-event.ts';
import { FROM_EDGE, startFunctionFixture } from './function-fixture.ts';

const functionFixture = closeAfterwards(await startFunctionFixture(['api', 'get-resource']));

const GET_RESOURCE = documented('/api/Fetch/GetResource', {
  query: `url=${encodeURIComponent('https://media.example/v')}`,
  headers: FROM_EDGE,
});
const FAILED = { type: '/problems/service-failed', title: 'Fetch Failed', status: 502 };
const jsonOf = ({ body = '' }: Result) => JSON.parse(body);

/** Invokes a function once, with these variables changed. */
async function ask(name: string, event: unknown, changes: Readonly<Record<string, string>>) {
  const started = await functionFixture.start(name, { ...functionFixture.environment, ...changes });
  const result = (await started.invoke(event)) as Result;
  await started.close();
  return { result, lines: started.lines };
}

/** A layer with this program, or an empty one. */
async function layerWith(program?: string, mode = 0o755): Promise<string> {
  const layer = await mkdtemp(join(functionFixture.dir, 'opt-'));
  if (program === undefined) return layer;
  await mkdir(join(layer, '_internal'));
  await writeFile(join(layer, 'yt-dlp_linux'), program);
  await chmod(join(layer, 'yt-dlp_linux'), mode);
  return layer;
}

describe('a layer', () => {
  it.each<[string, string | undefined, number]>([
    ['that is empty', undefined, 0],
    ['whose program fails', '#!/bin/sh\necho broken >&2\nexit 1\n', 0o755],
    ['whose program has no execute permission and prints another name', '#!/bin/sh\necho ffmpeg\n', 0o644],
    ['whose program is for another machine', '\u007fELF\u0002\u0001\u0001', 0o755],
  ])('%s is answered with 502: the table names no maintenance, nor does App', async (_, program, mode) => {
    const { result, lines } = await ask('get-resource', GET_RESOURCE, {
      TOOLS_LAYER_DIR: await layerWith(program, mode),
    });
    expect(jsonOf(result)).toEqual(FAILED);
    // Logged for the operator, except for the placeholder before the first update.
    const told = lines.filter((line) => line.includes('yt-dlp of the layer failed to start'));
    // At the start and with the request.
    expect(told).toHaveLength(program === undefined ? 0 : 2);
  });

  it('whose program only prints its version is answered with 502 and logged', async () => {
    const program = '#!/bin/sh\ncase "$*" in *--version*) echo 2026.11.20;; *) exit 3;; esac\n';
    const { result, lines } = await ask('get-resource', GET_RESOURCE, { TOOLS_LAYER_DIR: await layerWith(program) });
    expect([result.statusCode, jsonOf(result)]).toEqual([502, FAILED]);
    expect(lines.join('\n')).toContain('yt-dlp runs as one process per link');
    expect(lines.join('\n')).not.toContain('ReferenceError');
  });
});

describe('an unreachable table', () => {
  let nowhere: string;
  beforeAll(async () => {
    const { url, close } = await listen(createServer());
    await close();
    nowhere = url;
  });

  it.each([
    ['get-resource', GET_RESOURCE],
    ['api', documented('/api/App/requests', { headers: FROM_EDGE })],
  ])('is answered with 502 by %s', async (name, event) => {
    const { result, lines } = await ask(name, event, {
      AWS_ENDPOINT_URL_DYNAMODB: nowhere,
      TOOLS_LAYER_DIR: await layerWith(),
    });
    expect([result.statusCode, jsonOf(result)]).toEqual([502, FAILED]);
    expect(lines.join('\n')).toContain('ECONNREFUSED');
  });

  it('admits no request of which it is not known whether the edge sent it', async () => {
    const event = documented('/api/Fetch/GetResource', { query: 'url=nonsense' });
    const { result } = await ask('get-resource', event, { AWS_ENDPOINT_URL_DYNAMODB: nowhere });
    expect(result.statusCode).toBe(404);
  });
});

describe('a function with a missing or invalid variable', () => {
  it.each([
    ['api', 'TABLE_NAME', '', 'TABLE_NAME must be set'],
    ['get-resource', 'PLAYLIST_LIMIT', 'many', 'PLAYLIST_LIMIT must be a whole number'],
  ])('%s does not start, and names the variable %s', async (name, variable, value, message) => {
    const changes = { ...functionFixture.environment, [variable]: value };
    const failure = String(await functionFixture.start(name, changes).catch((error) => error));
    expect(failure).toContain(`SettingError: ${message}`);
    expect(takeCrashReports()).toEqual([expect.stringContaining(message)]);
    // The message, not the quoted source line.
    expect(failure.length).toBeLessThan(20_000);
  });
});
