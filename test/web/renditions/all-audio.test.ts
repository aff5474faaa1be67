import { describe, expect, it } from 'vitest';
import type { MediaInformation, MediaRendition } from '../../../web/src/api/contract.ts';
import { withAllAudio } from '../../../web/src/renditions/all-audio.ts';

const sound = (key: string | null, more: Partial<MediaRendition> = {}): MediaRendition => ({
  key,
  label: `about ${key}`,
  fileExtension: '.m4a',
  mimeType: 'audio/mp4',
  ...more,
});
const item = (audio?: MediaRendition[]): MediaInformation => ({
  requestedUrl: 'https://a.example/',
  title: 'Title',
  author: null,
  coverUrl: null,
  ...(audio && { audio: { bestQualityKey: 'a', renditions: audio } }),
});
const keysOf = ({ audio }: MediaInformation) => audio?.renditions?.map(({ key }) => key);

describe('withAllAudio', () => {
  it('adds what is not listed, after what is', () => {
    const listed = item([sound('a'), sound('a', { convertTo: 'mp3' })]);
    const all = withAllAudio(listed, [sound('a'), sound('dub')]);
    expect(keysOf(all)).toEqual(['a', 'a', 'dub']);
    expect(all.audio?.bestQualityKey).toBe('a');
    expect(keysOf(withAllAudio(item(), [sound('dub')]))).toEqual(['dub']);
  });

  it('knows keys of a private instance whose signatures differ', () =>
    expect(keysOf(withAllAudio(item([sound('a.id.100.x')]), [sound('a.id.200.y'), sound('b.id.200.z')]))).toEqual([
      'a.id.100.x',
      'b.id.200.z',
    ]));

  it('is the item itself where there is nothing to add, or nothing known', () => {
    const listed = item([sound('a')]);
    expect(withAllAudio(listed, [sound('a')])).toBe(listed);
    expect(withAllAudio(listed)).toBe(listed);
  });
});
