import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Result } from '../../lambdas/middleware/event.ts';
import { documented } from './documented-event.ts';
import { type FunctionRig, startFunctionRig } from './function-runner.ts';

let rig: FunctionRig;
beforeAll(async () => {
  rig = await startFunctionRig(['get-app-info', 'get-request-count', 'get-resource']);
});
afterAll(() => rig.close());

const GET_RESOURCE = documented('/api/Fetch/GetResource', {
  query: `url=${encodeURIComponent('https://media.example/v')}`,
});
const jsonOf = ({ body = '' }: Result) => JSON.parse(body);

/** Starts a function in this trouble, and asks it once. */
async function ask(name: string, event: unknown, trouble: Readonly<Record<string, string>>) {
  const started = await rig.start(name, { ...rig.environment, ...trouble });
  const result = (await started.invoke(event)) as Result;
  await started.close();
  return { result, lines: started.lines };
}

/** A layer with this for a program; without one, a layer of nothing. */
async function layerWith(program?: string, mode = 0o755): Promise<string> {
  const layer = await mkdtemp(join(rig.dir, 'opt-'));
  if (program === undefined) return layer;
  await mkdir(join(layer, '_internal'));
  await writeFile(join(layer, 'yt-dlp_linux'), program);
  await chmod(join(layer, 'yt-dlp_linux'), mode);
  return layer;
}

describe('a layer', () => {
  it.each<[string, string | undefined, number]>([
    ['of nothing', undefined, 0],
    ['whose program fails', '#!/bin/sh\necho broken >&2\nexit 1\n', 0o755],
    ['whose program is none', 'nonsense', 0o755],
    ['whose program lost its permission, and fails', '#!/bin/sh\nexit 1\n', 0o644],
    ['whose program calls itself something else', '#!/bin/sh\necho ffmpeg\n', 0o755],
    ['whose program is for another machine', '\u007fELF\u0002\u0001\u0001', 0o755],
  ])('%s is maintenance, and says when to ask again', async (_, program, mode) => {
    const { result, lines } = await ask('get-resource', GET_RESOURCE, {
      TOOLS_LAYER_DIR: await layerWith(program, mode),
    });
    expect(result.statusCode).toBe(503);
    expect(jsonOf(result)).toEqual({
      title: 'Fetching yt-dlp',
      status: 503,
      detail: expect.stringMatching(/Try again/),
    });
    expect(Number(result.headers?.['retry-after'])).toBeGreaterThan(0);
    // An operator has to see it, unless it is the placeholder before the first update.
    const told = lines.filter((line) => line.includes('yt-dlp of the layer failed to start'));
    // At the start, and when it was asked.
    expect(told).toHaveLength(program === undefined ? 0 : 2);
  });

  it('whose program says its version and no more is a failed fetch, and the log says so', async () => {
    const program = '#!/bin/sh\ncase "$*" in *--version*) echo 2026.11.20;; *) exit 3;; esac\n';
    const { result, lines } = await ask('get-resource', GET_RESOURCE, { TOOLS_LAYER_DIR: await layerWith(program) });
    expect([result.statusCode, jsonOf(result)]).toEqual([502, { title: 'Fetch Failed', status: 502 }]);
    expect(lines.join('\n')).toContain('yt-dlp does not start');
  });

  it('is nothing that App needs', async () => {
    const { result } = await ask('get-app-info', documented('/api/App'), { TOOLS_LAYER_DIR: await layerWith() });
    expect([result.statusCode, jsonOf(result)]).toMatchObject([200, { isHealthy: true, maintenance: null }]);
  });
});

describe('without the table', () => {
  let nowhere: string;
  beforeAll(async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    nowhere = `http://127.0.0.1:${port}`;
  });

  it.each([
    ['get-resource', GET_RESOURCE],
    ['get-request-count', documented('/api/App/requests')],
  ])('%s is a failed fetch', async (name, event) => {
    const { result, lines } = await ask(name, event, {
      AWS_ENDPOINT_URL_DYNAMODB: nowhere,
      TOOLS_LAYER_DIR: await layerWith(),
    });
    expect([result.statusCode, jsonOf(result)]).toEqual([502, { title: 'Fetch Failed', status: 502 }]);
    expect(lines.join('\n')).toContain('ECONNREFUSED');
  });

  it('a link that is malformed is still a bad request', async () => {
    const event = documented('/api/Fetch/GetResource', { query: 'url=nonsense' });
    const { result } = await ask('get-resource', event, { AWS_ENDPOINT_URL_DYNAMODB: nowhere });
    expect(result.statusCode).toBe(400);
  });

  it('App answers, and is not healthy', async () => {
    const { result } = await ask('get-app-info', documented('/api/App'), { AWS_ENDPOINT_URL_DYNAMODB: nowhere });
    expect([result.statusCode, jsonOf(result)]).toMatchObject([200, { isHealthy: false, maintenance: null }]);
  });
});

describe('a function with a missing or invalid variable', () => {
  it.each([
    ['get-app-info', 'TABLE_NAME', '', 'TABLE_NAME must be set'],
    ['get-resource', 'TABLE_NAME', '', 'TABLE_NAME must be set'],
    ['get-request-count', 'CORS_ALLOWED_ORIGINS', 'page', 'CORS_ALLOWED_ORIGINS must be a comma list of origins'],
    ['get-resource', 'PLAYLIST_LIMIT', 'many', 'PLAYLIST_LIMIT must be a whole number'],
  ])('%s does not start, and names the variable %s', async (name, variable, value, message) => {
    const trouble = { ...rig.environment, [variable]: value };
    const failure = String(await rig.start(name, trouble).catch((error) => error));
    expect(failure).toContain(`SettingError: ${message}`);
    // What it shows of the program around it is not the most of it.
    expect(failure.length).toBeLessThan(20_000);
  });
});
