import type { Resolved } from '../../../../core/resolve/index.ts';
import type { PlaylistEntry, Resource } from '../../../../core/state/resource.ts';
import { RESOURCE } from '../../fakes.ts';

export const LIST_URL = 'https://media.example/list?a=1&b=2';

const AUDIO = {
  ...RESOURCE.renditions[0],
  id: 'audio-1',
  side: 'audio',
  formatIds: ['3'],
  fileExtension: '.m4a',
  mimeType: 'audio/mp4',
};

/** An item with audio and its conversion. */
export const itemOf = (name: string, traits: Partial<Resource> = {}): Resource => ({
  ...RESOURCE,
  id: name.padEnd(22, '_'),
  title: name,
  author: 'Someone',
  renditions: [...RESOURCE.renditions, AUDIO as never],
  mp3: { renditionId: 'audio-1', sizeBytes: 1_234_567 },
  durationSeconds: 61.6,
  ...traits,
});

interface EntryFixture {
  readonly resource?: Resource;
  readonly entry?: Partial<PlaylistEntry>;
}

/** A list with entries of their own links. */
export const listOf = (entries: readonly EntryFixture[], title: string | null = 'A list'): Resolved => ({
  type: 'PlayList',
  title,
  author: 'The author',
  coverUrl: 'https://media.example/cover.jpg',
  items: entries.map(({ resource, entry }, index) => {
    const url = `https://media.example/${index}?x=1&y=ä`;
    return {
      entry: {
        url,
        title: resource?.title ?? `Entry ${index}`,
        author: 'Someone',
        coverUrl: null,
        resourceId: resource?.id,
        ...entry,
      },
      resource: resource && { ...resource, origin: { ...resource.origin, url } },
    };
  }),
});

/** Texts that break documents when they are written as they are. */
export const HOSTILE = [
  '</title><script>alert(1)</script>',
  ']]>&amp;&#0;&bogus;',
  'a\u0000b\u0008c\u001bd\ufffee\ud800f',
  'line\r\nhttps://evil.example/x.m3u8\n#EXTINF:1,x',
  '"\'><x y="',
  '\u202egnp.exe\u2028next',
];
