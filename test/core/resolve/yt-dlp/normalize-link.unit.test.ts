import { describe, expect, it } from 'vitest';
import { normalizeLink } from '../../../../core/resolve/yt-dlp/requests.ts';

describe('normalizeLink', () => {
  it.each([
    ['HTTPS://Media.Example:443/a/../b', 'https://media.example/b'],
    ['https://user:secret@media.example/', 'https://media.example/'],
    ['https://media.example/#t=10', 'https://media.example/'],
    ['https://media.example/#__youtubedl_smuggle=%7B%7D', 'https://media.example/'],
    ['https://media.example/#/__youtubedl_smuggle=%7B%7D', 'https://media.example/'],
    ['https://media.example/#!/video/1', 'https://media.example/#!/video/1'],
    ['https://media.example/?a=1&b=%2F', 'https://media.example/?a=1&b=%2F'],
  ])('normalizes %s to %s', (link, expected) => expect(normalizeLink(link)).toBe(expected));
});
