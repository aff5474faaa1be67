import { expect, it } from 'vitest';
import { describeSite } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { watchUrl } from './videos.ts';
import { createYoutube } from './youtube.ts';

/** The first address gets the bot check of one video; media of both videos is bound to the address that asked. */
const youtube = useSite(await createYoutube(), { addresses: ['127.0.0.1', '127.0.0.2'] });
const ALL = {
  ytDlp: ['18', '134', '136', '140', '140-drc', '251'],
  video: ['136+140', '18', '134+140'],
  audio: ['251', '140', '140-drc'],
};

describeSite('YouTube by two addresses', youtube, [
  { title: 'delivers what is bound to an address', url: watchUrl('boundbound1'), delivers: ALL },
  { title: 'delivers what one of them is refused', url: watchUrl('blockedaddr'), delivers: ALL },
]);

it('requests media from the address that resolved it', () => {
  const media = youtube.serviceRequests().filter(({ url }) => url.pathname === '/videoplayback');
  expect(media.length).toBeGreaterThan(0);
  expect(media.filter(({ client, url }) => url.searchParams.get('ip') !== client)).toEqual([]);
});
