import { describe, expect, it } from 'vitest';
import { readEntries } from '../../../../core/resolve/playlist.ts';
import { readAlbum } from '../../../../core/resolve/yt-dlp/metadata.ts';

describe('readAlbum', () => {
  it.each([
    [
      { album: 'Album', track_number: 3, playlist_title: 'List', playlist_index: 9 },
      { album: 'Album', trackNumber: 3 },
    ],
    [{ album: 'Album', playlist_index: 9 }, { album: 'Album' }],
    [
      { playlist_title: 'List', playlist_index: 9 },
      { album: 'List', trackNumber: 9 },
    ],
    [{ album: ' ', track_number: 0 }, {}],
    [{ album: ['a'], track_number: '3', playlist_title: 7, playlist_index: -1 }, {}],
    [{ album: 'a', track_number: 10_000 }, { album: 'a' }],
    [{ album: 'a'.repeat(10_000), track_number: Number.NaN }, { album: 'a'.repeat(500) }],
  ])('of %j', (info, place) => expect(readAlbum(info)).toEqual(place));

  it('takes the list of an item that came with its page', () => {
    const items = [
      { _type: 'video', id: '1', webpage_url: 'https://a.example/1' },
      { _type: 'url', id: '2', url: 'https://a.example/2' },
    ];
    const list = readEntries({ _type: 'playlist', title: 'List', entries: items }, 'https://a.example/');
    expect(list.map(({ info }) => readAlbum(info))).toEqual([{ album: 'List', trackNumber: 1 }, {}]);
  });
});
