import { expect, it } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import type { ResolverOptions } from '../../../core/resolve/create-resolver.ts';
import { serveProxy } from '../../../packages/guarded-fetch/test/servers.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { createFixture, type Info, origin, PAGE } from './fixture.ts';
import { type FormatList, formatLists } from './renditions/format-lists.ts';

const isFile = ({ protocol }: FormatList['formats'][number]) => /^https?$/.test(String(protocol));

/** An item whose formats, all of them files, are a file of the origin. */
const itemOf = ({ formats, duration }: FormatList): Info => ({
  id: '1',
  extractor_key: 'Site',
  title: 'Title',
  duration: duration ?? 6,
  formats: formats.map((format) => ({ ...format, url: origin.url(`/files/clip.mp4?${String(format.format_id)}`) })),
});

const offered = async (list: FormatList, options: Partial<ResolverOptions> = {}) => {
  const { resource, workers } = createFixture({ [PAGE]: itemOf(list) }, options);
  const { renditions, mp3, egress } = await resource();
  return { offer: { renditions, mp3 }, egress, worker: workers[0]?.options };
};

const lists = formatLists.filter(({ formats }) => formats.length > 2 && formats.every(isFile));

it.each(lists.map((list) => [list.name, list] as const))(
  'offers the same of %s with SEARCH, with a cookies file and through an outgoing proxy',
  async (_, list) => {
    const { offer, egress } = await offered(list);
    expect(offer.renditions.length).toBeGreaterThan(0);
    expect(egress).toBe('direct');

    expect((await offered(list, { search: true })).offer).toEqual(offer);

    const withCookies = await offered(list, {
      cookiesFile: '/cookies.txt',
      cookiesDir: ['/site.txt'],
      ytDlpPlugins: '/plugins',
      pluginDirs: ['/tests'],
      ytDlpExtractorArgs: ['site:a=b'],
    });
    expect(withCookies.worker).toMatchObject({
      cookiesFile: '/cookies.txt',
      cookiesDir: ['/site.txt'],
      pluginDirs: ['/tests', '/plugins'],
      extractorArgs: ['site:a=b'],
    });
    expect(withCookies.offer).toEqual(offer);

    const proxy = await serveProxy({ [origin.host]: Number(origin.host.split(':')[1]) });
    const proxied = closeAfterwards(createEgress({ allow: [origin.host], outgoingProxies: [proxy.url] }));
    const throughProxy = await offered(list, { egress: proxied });
    expect(throughProxy.egress).toBe(proxied.nextIdentity());
    expect(throughProxy.offer).toEqual(offer);
    expect(proxy.seen).not.toEqual([]);

    const rules = [`${new URL(PAGE).hostname}=direct`];
    const ruled = createEgress({ allow: [origin.host], outgoingProxies: [proxy.url], proxyRules: rules });
    expect((await offered(list, { egress: closeAfterwards(ruled) })).egress).toBe('direct');
  },
);
