import { describe, expect, it } from 'vitest';
import { createFixture, item, origin, PAGE } from '../core/resolve/fixture.ts';

/** A format with codecs, size and duration, as complete as a page can describe it. */
const format = (index: number, more: Record<string, unknown> = {}) => ({
  format_id: String(index),
  url: origin.url(`/files/clip.mp4?${index}`),
  protocol: 'https',
  ext: 'exe',
  vcodec: 'avc1',
  acodec: 'mp4a.40.2',
  filesize: 100 + index,
  ...more,
});
const resolvePage = (formats: readonly Record<string, unknown>[], extractor_key: string) =>
  createFixture({ [PAGE]: item('1', { extractor_key, formats }) }).resource(PAGE);

describe('page whose formats are programs', () => {
  it('has its files probed although it describes them completely', async () => {
    const { renditions } = await resolvePage([format(1, { url: origin.url('/trouble/html') }), format(2)], 'Generic');
    expect(renditions).toMatchObject([{ formatIds: ['2'], fileExtension: '.mp4', mimeType: 'video/mp4' }]);
  });

  it('has at most 40 files probed, and no others offered', async () => {
    const formats = Array.from({ length: 45 }, (_, index) => format(index));
    expect((await resolvePage(formats, 'Generic')).renditions).toHaveLength(40);
  });

  it('gets no extension of other files through the extractor of a site', async () => {
    const { renditions } = await resolvePage([format(1)], 'PeerTube');
    expect(renditions).toMatchObject([{ fileExtension: '.mp4', mimeType: 'video/mp4' }]);
  });

  it('keeps formats that the extractor of a site describes', async () => {
    const formats = Array.from({ length: 45 }, (_, index) => format(index, { ext: 'mp4' }));
    expect((await resolvePage(formats, 'Site')).renditions).toHaveLength(45);
  });
});
