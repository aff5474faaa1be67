import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ANY_INSTANCE, type Target, useTarget, verified } from './target.ts';

const target = useTarget();

const countOf = async (of: Target) => Number((await of.get('/api/App/requests')).headers['x-request-count']);

describe('GET /api/App', ANY_INSTANCE, () => {
  it('returns version, health, environment and no maintenance, and names the tools', async () => {
    const answer = await target.get('/api/App');
    expect(answer.status).toBe(200);
    target.api.expectAnswer('GET', '/api/App', answer);
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-tools': expect.stringMatching(/yt-dlp="[^"]+"/),
    });
    expect(await target.json('/api/App')).toEqual({
      version: verified ? expect.stringMatching(/^v\d+\.\d+\.\d+/) : `v${version}`,
      isHealthy: true,
      environment: verified ? expect.any(String) : 'Development',
      maintenance: null,
    });
  });
});

describe('GET /api/App/requests', () => {
  it('is a badge for shields.io, with exactly its four keys', ANY_INSTANCE, async () => {
    expect(await target.json('/api/App/requests')).toEqual({
      schemaVersion: 1,
      label: 'requests',
      message: expect.stringMatching(/^\d{1,3}(,\d{3})*$/),
      color: '9f54e5',
    });
  });

  it('has the number in x-request-count', ANY_INSTANCE, async () => {
    const { headers, body } = await target.get('/api/App/requests');
    const { message } = JSON.parse(body.toString());
    expect(headers['x-request-count']).toBe(message.replaceAll(',', ''));
  });

  it('counts each answered resolve once, playlists and stored items included', async () => {
    const before = await countOf(target);
    expect((await target.resolve('/files/clip.mp4')).status).toBe(200);
    expect(await countOf(target)).toBe(before + 1);
    expect((await target.resolve('/files/clip.mp4')).status).toBe(200);
    expect(await countOf(target)).toBe(before + 2);
    expect((await target.resolve('/feeds/podcast.xml')).status).toBe(200);
    expect(await countOf(target)).toBe(before + 3);
  });

  it.each(['Get', 'Feed'])('does not count %s, nor HEAD of it', async (name) => {
    const before = await countOf(target);
    const path = target.pathOf(name, '/files/clip.mp4');
    for (const method of ['GET', 'HEAD']) expect((await target.get(path, { method })).status).toBeLessThan(400);
    expect(await countOf(target)).toBe(before);
  });

  it('does not count failures', async () => {
    const before = await countOf(target);
    expect((await target.resolve('/trouble/404')).status).toBe(404);
    expect((await target.get('/api/Fetch/GetResource')).status).toBe(400);
    expect(await countOf(target)).toBe(before);
  });
});

describe('HEAD', ANY_INSTANCE, () => {
  it.each(['/api/App', '/api/App/requests'])('%s has the headers of GET and no body', async (path) => {
    const get = await target.get(path);
    const head = await target.get(path, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.body).toHaveLength(0);
    expect(head.headers['content-type']).toBe(get.headers['content-type']);
    // Others use a running instance too.
    if (!verified) expect(head.headers['x-request-count']).toBe(get.headers['x-request-count']);
  });
});
