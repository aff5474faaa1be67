import { expect, it } from 'vitest';
import { delivers, describeSite } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { ALL, createYoutube, watchUrl } from './youtube.ts';

/** The first address gets the bot check of one video; media of both videos is bound to the address that asked. */
const youtube = useSite(await createYoutube(), { addresses: ['127.0.0.1', '127.0.0.2'] });

describeSite('YouTube by two addresses', youtube, [
  delivers('what is bound to an address', watchUrl('boundbound1'), ALL),
  delivers('what one of them is refused', watchUrl('blockedaddr'), ALL),
]);

it('requests media from the address that resolved it', () => {
  const media = youtube.serviceRequests().filter(({ url }) => url.pathname === '/videoplayback');
  expect(media.length).toBeGreaterThan(0);
  expect(media.filter(({ client, url }) => url.searchParams.get('ip') !== client)).toEqual([]);
});
