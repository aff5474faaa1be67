import { describe, expect, it } from 'vitest';
import { Problem, readLink } from '../../../layers/contract/index.ts';

const LINK = 'https://media.example/watch';

describe('readLink', () => {
  it.each([
    [`url=${encodeURIComponent(`${LINK}?v=x&list=y`)}`, `${LINK}?v=x&list=y`],
    [`url=${LINK}?v=x`, `${LINK}?v=x`],
    // Ordinary form decoding: what follows a raw `&` is another parameter.
    [`url=${LINK}?v=x&list=y`, `${LINK}?v=x`],
    [`a=b&url=${LINK}&url=https://other.example/`, LINK],
    ['url=https://media.example/a+b', 'https://media.example/a b'],
    ['url=HTTP://media.example', 'HTTP://media.example'],
    ['url=%20https://media.example/%20', 'https://media.example/'],
    ['url=https://user:pass@media.example/', 'https://user:pass@media.example/'],
    ['url=https://[::1]/', 'https://[::1]/'],
    [`url=${LINK}?${'x'.repeat(4096 - LINK.length - 1)}`, `${LINK}?${'x'.repeat(4096 - LINK.length - 1)}`],
  ])('%.80s', (query, link) => expect(readLink(query)).toBe(link));

  it.each([
    '',
    'url',
    'url=',
    'url=%20%20',
    'URL=https://media.example',
    'url=watch',
    'url=/watch',
    'url=//media.example/watch',
    'url=file:///etc/passwd',
    'url=ftp://media.example/x.mp4',
    'url=javascript:alert(1)',
    'url=ytsearch:cats',
    'url=https://',
    'url=https:media.example',
    'url=https:///watch',
    'url=https://?v=x',
    'url=https://%23',
    'url=http://media.example:99999/',
    'url=http://[::1/',
    `url=${encodeURIComponent(encodeURIComponent(LINK))}`,
    `url=${LINK}?${'x'.repeat(5000)}`,
  ])('%.60j is malformed', (query) => {
    const act = () => readLink(query);
    expect(act).toThrow(Problem);
    expect(act).toThrow(expect.objectContaining({ details: { title: 'Bad Request', status: 400 } }));
  });
});
