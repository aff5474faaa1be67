import { describe, expect, it } from 'vitest';
import type { Media } from '../../lambdas/api/mcp-tools.ts';
import { connectMcp, MESSAGE_HEADERS, messageOf } from '../support/mcp-client.ts';
import { sendRequest } from '../support/request.ts';
import { useTarget } from './target.ts';

const target = useTarget();
const callTool = async (name: string, path: string, more = {}) => {
  const { call } = await connectMcp(target.baseUrl);
  return call(name, { url: target.origin.url(path), ...more });
};
const fetchMedia = async (path: string): Promise<Media> => (await callTool('fetch_media', path)).data;

describe('POST /mcp', () => {
  it.each(['legacy', 'auto'] as const)('serves the SDK in the mode %s', async (mode) => {
    const { client } = await connectMcp(target.baseUrl, { mode });
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['fetch_media', true],
      ['get_transcript', true],
    ]);
    expect(client.getServerVersion()).toMatchObject({ name: 'reelay' });
  });

  it('finds files whose addresses can be opened as they are', async () => {
    const { type, items } = await fetchMedia('/site/combined/mcp');
    const [item] = items;
    expect([type, items.length, item?.sourceUrl]).toEqual(['Media', 1, target.origin.url('/site/combined/mcp')]);
    // The last one is converted.
    const files = [item?.video[0], item?.audio[0], item?.audio.at(-1)].filter((file) => file !== undefined);
    expect(files.at(-1)).toMatchObject({ fileExtension: '.mp3', downloadUrl: expect.stringMatching(/\?format=mp3$/) });
    for (const { downloadUrl, fileSizeBytes } of files) {
      expect(downloadUrl.startsWith(`${target.baseUrl}/api/Stream/Media/`)).toBe(true);
      const { status, body } = await sendRequest(downloadUrl);
      expect(status).toBe(200);
      if (fileSizeBytes !== null) expect(body.length).toBe(fileSizeBytes);
    }
  });

  it('lists the items of a list, each of which can be asked for', async () => {
    const { type, items } = await fetchMedia('/site/list/mcp?n=2');
    expect([type, items.map(({ video, audio }) => [...video, ...audio])]).toEqual(['PlayList', [[], []]]);
    const { call } = await connectMcp(target.baseUrl);
    const { data } = await call('fetch_media', { url: items[1]?.sourceUrl });
    expect((data as Media).items[0]?.video).not.toEqual([]);
  });

  it.each(['en', 'fr', 'es', 'de'])('reads the subtitles in %s', async (language) => {
    const { isError, text } = await callTool('get_transcript', '/site/detailed/mcp', { language });
    expect([isError, text]).toEqual([false, expect.stringMatching(/\n\[00:00:0\d\] \S/)]);
  });

  it.each(['it', 'pt', 'ja', 'ru'])('says why the subtitles in %s cannot be read', async (language) => {
    const { isError, text } = await callTool('get_transcript', '/site/detailed/mcp', { language });
    expect([isError, text]).toEqual([true, expect.stringMatching(/\S+\. \S/)]);
  });

  it('fails in words', async () => {
    expect(await callTool('fetch_media', '/site/nothing/mcp')).toMatchObject({
      isError: true,
      text: expect.stringMatching(/\S+\. \S/),
    });
    expect(await callTool('get_transcript', '/site/combined/mcp')).toMatchObject({
      isError: true,
      text: expect.stringMatching(/no subtitles/),
    });
  });

  it('refuses what is too large, and continues to serve', async () => {
    const large = { method: 'POST', headers: MESSAGE_HEADERS, body: messageOf('ping', { text: 'x'.repeat(70_000) }) };
    expect((await target.get('/mcp', large)).status).toBe(413);
    expect((await target.get('/mcp', { ...large, body: messageOf('ping') })).status).toBe(200);
  });

  it.each(['GET', 'DELETE', 'HEAD'])('answers %s with 405', async (method) => {
    const { status, headers } = await target.get('/mcp', { method });
    expect([status, headers.allow]).toEqual([405, 'POST, OPTIONS']);
  });
});
