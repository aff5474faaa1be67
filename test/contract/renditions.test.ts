import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StreamReference } from '../../clients/reelay-client/src/api-types.ts';
import { itemOf as itemOfTarget } from './stream-helpers.ts';
import { useTarget } from './target.ts';

const target = useTarget();

const itemOf = (link: string) => itemOfTarget(target, link);

/** One line per rendition. */
const summarize = (side: StreamReference | undefined) =>
  side?.renditions.map(
    ({ urlType, label, fileExtension, mimeType, convertTo }) =>
      `${urlType} ${label} ${fileExtension} ${mimeType}${convertTo ? ` → ${convertTo}` : ''}`,
  );

const MP3 = 'Media 192 kbps .mp3 audio/mpeg → mp3';

describe('a single item', () => {
  it('has the type Media, and the title, author and cover of its item', async () => {
    const { resource, headers } = await target.resolve('/site/open/one');
    const [item] = resource.mediaItems;
    expect(resource).toEqual({
      mediaItems: [item],
      type: 'Media',
      title: 'Größe “one”: eins/zwei',
      author: 'Ärtist Example',
      coverUrl: target.origin.url('/files/square.jpg'),
    });
    expect(item).toMatchObject({
      requestedUrl: target.origin.url('/site/open/one'),
      title: resource.title,
      author: resource.author,
      coverUrl: resource.coverUrl,
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  it('has null in nullable fields without a value', async () => {
    const { resource } = await target.resolve('/files/clip.mp4');
    expect(resource.author).toBeNull();
    expect(resource.coverUrl).toBeNull();
    expect(resource.mediaItems[0]).toMatchObject({ author: null, coverUrl: null });
  });

  it.each([
    ['/pages/json-ld', { title: 'A described video', author: 'Ada Example' }],
    ['/pages/og', { title: 'A shared video' }],
    ['/site/music/x', { author: expect.stringContaining('Ada Example') }],
  ])('of %s has the metadata of its source', async (link, metadata) => {
    expect(await itemOf(link)).toMatchObject(metadata);
  });

  it('of a live source has a title without the date that yt-dlp appends', async () => {
    expect((await itemOf('/site/live/now')).title).toBe('Größe “now”: eins/zwei');
  });
});

describe('renditions of a direct file', () => {
  const MP4 = 'Media 180p .mp4 video/mp4';
  it.each<[link: string, video: string[], converted?: string]>([
    ...[
      ...['/files/clip.mp4', '/files/clip-tail.mp4', '/plain/video', '/plain/octets', '/plain/video-as-text'],
      ...['/pages/video', '/pages/og', '/pages/json-ld', '/pages/meta-refresh'],
      ...['/redirects/chain/3', '/redirects/308/files/clip.mp4', '/redirects/cookie'],
    ].map((link): [string, string[], string] => [link, [MP4], MP3]),
    ['/files/clip.webm', ['Media 180p .webm video/webm'], MP3],
    ['/files/clip.mkv', ['Media 180p .mkv video/x-matroska'], MP3],
    ['/files/silent.mp4', [MP4]],
    ['/pages/sources', ['Media 720p .mp4 video/mp4', 'Media 360p .mp4 video/mp4'], MP3],
  ])('%s', async (link, video, converted) => {
    const item = await itemOf(link);
    expect(summarize(item.video)).toEqual(video);
    expect(summarize(item.audio)).toEqual(converted && [...video, converted]);
  });

  it.each([
    ['/files/tone.m4a', /^Media \d+ kbps \.m4a audio\/mp4$/, true],
    ['/files/tone.mp3', /^Media 12[89] kbps \.mp3 audio\/mpeg$/, false],
    ['/plain/audio', /^Media 12[89] kbps \.mp3 audio\/mpeg$/, false],
    ['/files/tone.ogg', /^Media \d+ kbps \.(ogg|opus) audio\/ogg$/, true],
    ['/files/tone.webm', /^Media \d+ kbps \.webm audio\/webm$/, true],
    ['/plain/audio-webm', /^Media \d+ kbps \.webm audio\/webm$/, true],
    ['/files/tone.flac', /^Media \d+ kbps \.flac audio\/(x-)?flac$/, true],
    ['/files/tone.wav', /^Media (768|1536) kbps \.wav audio\/(x-)?wav$/, true],
  ])('of %s have no video', async (link, best, converted) => {
    const item = await itemOf(link);
    expect(item).not.toHaveProperty('video');
    const [first, ...rest] = summarize(item.audio) ?? [];
    expect(first).toMatch(best);
    expect(rest).toEqual(converted ? [MP3] : []);
  });

  it('have the exact size although the metadata has none', async () => {
    const file = await readFile(join(target.origin.mediaDir, 'clip.mp4'));
    expect((await itemOf('/files/clip.mp4')).video?.renditions[0]?.fileSizeBytes).toBe(file.length);
  });

  it('with combined formats only are listed as audio too, with the conversion of the best one', async () => {
    const { video, audio } = await itemOf('/site/combined/x');
    expect(summarize(audio)).toEqual([...(summarize(video) ?? []), MP3]);
    expect(audio?.renditions.slice(0, -1)).toEqual(video?.renditions);
    expect(audio?.renditions.at(-1)?.key).toBe(video?.bestQualityKey);
    const { renditions: _, ...best } = video ?? expect.fail('No video');
    expect(audio).toMatchObject(best);
  });
});

describe('renditions of separate tracks', () => {
  it('pair every video with the best AAC, best first', async () => {
    const { video, audio } = await itemOf('/site/open/x');
    const hasAv1 = existsSync(join(target.origin.mediaDir, 'ladder/av1-180.mp4'));
    expect(summarize(video)).toEqual([
      'Combined 720p .mp4 video/mp4',
      'Combined 360p .mp4 video/mp4',
      'Combined 360p .mp4 video/mp4',
      ...(hasAv1 ? ['Combined 180p .mp4 video/mp4'] : []),
    ]);
    const [, h264, vp9] = video?.renditions ?? [];
    expect(h264?.description).toMatch(/h264-360.* \+ .*aac-128/);
    expect(vp9?.description).toMatch(/vp9-360.* \+ .*aac-128/);
    expect(video?.urlType).toBe('Combined');
    // Opus ranks above its bitrate.
    expect(summarize(audio)?.map((line) => line.split(' ').slice(3).join(' '))).toEqual([
      '.webm audio/webm',
      '.m4a audio/mp4',
      '.m4a audio/mp4',
      '.mp3 audio/mpeg → mp3',
    ]);
    expect(audio?.urlType).toBe('Media');
  });

  it('have the first, middle and last one as best, medium and worst', async () => {
    for (const side of Object.values(await itemOf('/site/open/x')).filter((value) => typeof value === 'object')) {
      const { renditions, ...named } = side as StreamReference;
      const sources = renditions.filter(({ convertTo }) => convertTo === null);
      const places = { best: 0, medium: Math.floor(sources.length / 2), worst: sources.length - 1 };
      for (const [name, at] of Object.entries(places)) {
        const { key, description, fileExtension, mimeType } = sources[at] ?? expect.fail('No rendition');
        const fields = { Key: key, Description: description, FileExtension: fileExtension, MimeType: mimeType };
        expect(named).toMatchObject(
          Object.fromEntries(Object.entries(fields).map(([field, value]) => [`${name}Quality${field}`, value])),
        );
      }
    }
  });

  it('have the size of the source, or the sum of a pair', async () => {
    const { video } = await itemOf('/site/open/size-of-pair');
    const sizes = await Promise.all(
      ['ladder/h264-720.mp4', 'ladder/aac-128.m4a'].map((file) => readFile(join(target.origin.mediaDir, file))),
    );
    expect(video?.renditions[0]).toMatchObject({
      fileSizeBytes: sizes.reduce((sum, { length }) => sum + length, 0),
      height: 720,
    });
  });

  it('end with the conversion of the best audio, with the exact size of the stream', async () => {
    const { audio } = await itemOf('/site/open/x');
    const conversion = audio?.renditions.at(-1);
    const fields = { convertTo: 'mp3', bitrate: 192, height: null, urlType: 'Media', description: 'Converted to MP3' };
    expect(conversion).toMatchObject({ ...fields, key: audio?.bestQualityKey });
    const { headers } = await target.get(`/api/Stream/Media/${conversion?.key}?format=mp3`, { method: 'HEAD' });
    expect(conversion?.fileSizeBytes).toBe(Number(headers['content-length']));
  });

  it.each([
    ['/site/opus-only/x', ['Combined 360p .mp4 video/mp4'], 2],
    ['/site/mp3-only/x', ['Combined 360p .mp4 video/mp4'], 1],
    ['/site/silent/x', ['Media 720p .mp4 video/mp4', 'Media 360p .mp4 video/mp4'], undefined],
    ['/site/mixed/x', ['Combined 720p .mp4 video/mp4', 'Media 360p .mp4 video/mp4'], 2],
    ['/site/odd/x', ['Media 360p .mp4 video/mp4'], 2],
    ['/site/partly-drm/x', ['Media 360p .mp4 video/mp4'], 2],
    // The best of them is MP3.
    ['/site/mp3-best/x', undefined, 2],
  ])('%s', async (link, video, soundCount) => {
    const item = await itemOf(link);
    expect(summarize(item.video)).toEqual(video);
    expect(item.audio?.renditions.length).toBe(soundCount);
  });
});

describe('renditions of HLS and DASH', () => {
  it.each([
    ...['/hls/ts/index.m3u8', '/hls/fmp4/index.m3u8', '/hls/aes/index.m3u8', '/site/hls-referer/x'],
    ...['/hls/muxed.m3u8', '/live/index.m3u8'],
  ])('of %s are MP4', async (link) => {
    const item = await itemOf(link);
    expect(item.video?.renditions.length).toBe(link.includes('muxed') ? 2 : 1);
    for (const rendition of item.video?.renditions ?? [])
      expect(rendition).toMatchObject({ urlType: 'Media', fileExtension: '.mp4', mimeType: 'video/mp4' });
    expect(summarize(item.audio)).toEqual([...(summarize(item.video) ?? []), MP3]);
  });

  it.each(['/hls/master.m3u8', '/pages/hls', '/dash/number/manifest.mpd', '/dash/timeline/manifest.mpd'])(
    'of %s pair video with audio',
    async (link) => {
      const { video, audio } = await itemOf(link);
      expect(summarize(video)).toEqual(['Combined 720p .mp4 video/mp4', 'Combined 360p .mp4 video/mp4']);
      expect(audio?.renditions[0]).toMatchObject({ urlType: 'Media', fileExtension: '.m4a', mimeType: 'audio/mp4' });
      expect(audio?.renditions.at(-1)).toMatchObject({ convertTo: 'mp3' });
    },
  );
});
