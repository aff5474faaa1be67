import { archiveKey, keyOf, resourceId, subtitleId } from '../../../core/state/keys.ts';
import type { Rendition, Resource, Track } from '../../../core/state/resource.ts';
import { answerSegments, segmentOf, startSegmentsService, VIDEO_ID } from '../../support/segments-service.ts';
import {
  archivedList,
  audioTrack,
  renditionOf,
  resourceOf,
  type ServiceFixtureOptions,
  startService,
  tableOf,
  trackOf,
  videoTrack,
} from '../fixture.ts';
import type { FolderSite } from '../folder-site.ts';
import { SECONDS, type Source } from './sources.ts';

/*
 * A resource of one kind of source, with everything that an output may have: chapters, subtitles, a cover, a part that sponsors paid for,
 * German sound, and a list that it is the only entry of.
 *
 *     const site = useFolderSite(recipesOf(400, 'aac'), recipesOf(900, 'aac'));
 *     it('…', async () => {
 *       const streams = await useStreams(site, sourcesOf('aac').pair);
 *       await expectSeekable((await streams.start()).at('Media/KEY?tags=true'));
 *     });
 */

export const CHAPTERS = [
  { title: 'First', startSeconds: 0 },
  { title: 'Second', startSeconds: 8 },
];
/** What sponsors paid for, seconds. */
export const SPONSORED = { from: 5.3, to: 9.62 };
const LIMITS = { maxStreams: 100, maxStreamsPerClient: 100, maxFfmpeg: 20 };
/** The second folder of a site has the same in German. */
const GERMAN = '1/';

/** Names in paths: `KEY` of the rendition, `SUBTITLE`, and `LIST` with the resource as its entry. */
interface Keys {
  readonly KEY: string;
  readonly SUBTITLE: string;
  readonly LIST: string;
}

/**
 * Serves a kind of source until the test ends.
 * @param places the folders of the site that have it, each another resource. @default the first one
 */
export async function useStreams(site: FolderSite, source: Source, places: readonly string[] = ['']) {
  for (const place of new Set([...places, GERMAN])) source.prepare?.(site, place);
  const resources = places.map((place) => resourceAt(site, source, place));
  const byId = new Map(resources.map((resource) => [resource.id, resource]));
  const lists = resources.map(({ id, origin: { url } }) =>
    archivedList([{ url, resourceId: id }], { id: archiveKey(`${url}list`) }),
  );
  const keys: readonly Keys[] = resources.map((resource, index) => ({
    KEY: keyOf(resource.id, resource.renditions[0]?.id ?? ''),
    SUBTITLE: keyOf(resource.id, resource.subtitles?.[0]?.id ?? ''),
    LIST: lists[index]?.id ?? '',
  }));
  const segments = await startSegmentsService(answerSegments(segmentOf(SPONSORED.from, SPONSORED.to)));
  let renewals = 0;

  return {
    /** The first one, its source, and what is asked for. */
    resource: resources[0] as Resource,
    source,
    /** How often a resource was resolved again. */
    get renewals() {
      return renewals;
    },
    /**
     * Another process.
     * @param attachments what the table has stored. @default nothing
     */
    async start(attachments = new Map<string, Buffer>(), options: ServiceFixtureOptions = {}) {
      const refresh = async (resource: Resource) => {
        renewals += 1;
        return resource;
      };
      const openers = site.upstream.openers({ refresh, state: tableOf(attachments) });
      const service = await startService(
        (id) => byId.get(id),
        {},
        {
          ...openers,
          ...segments.options,
          peekSource: openers.openSource,
          attachments,
          limits: LIMITS,
          ...options,
          state: { getArchivedList: async (key) => lists.find(({ id }) => id === key), ...options.state },
        },
      );
      return {
        ...service,
        /** The URL of a path with a name of `Keys`, of a resource. Of a live stream it is a window with all segments. */
        at(path: string, who = 0): string {
          const { KEY, SUBTITLE, LIST } = keys[who] as Keys;
          const windowed = source.isLive ? `${path}${path.includes('?') ? '&' : '?'}segments=0-4` : path;
          const named = windowed.replace('KEY', KEY).replace('SUBTITLE', SUBTITLE).replace('LIST', LIST);
          return `${service.url}/api/Stream/${named}`;
        },
      };
    },
  };
}
export type Streams = Awaited<ReturnType<typeof useStreams>>;
export type Process = Awaited<ReturnType<Streams['start']>>;

function resourceAt(site: FolderSite, { video, sound, alone, isLive = false }: Source, place: string): Resource {
  const urlOf = (name: string, folder = place) => `${site.upstream.origin}/${folder}${name}`;
  const at = ({ url = '', ...traits }: Partial<Track>, folder = place): Partial<Track> => ({
    ...traits,
    url: urlOf(url, folder),
    ...(traits.fragments && { fragmentBaseUrl: urlOf('', folder) }),
  });
  const own = { language: 'en' };
  // What differs between places is as long.
  const name = place || '0/';
  const text = `WEBVTT\n\n00:01.000 --> 00:03.000\nHello from ${name}\n`;
  site.texts.set(`${place}text.vtt`, Buffer.from(text));
  site.texts.set(`${place}cover.jpg`, Buffer.concat([site.read(`${place}cover.jpg`), Buffer.alloc(9, name)]));
  const origin = {
    url: `https://site.example/${name}`,
    extractor: place ? 'Other' : 'Youtube',
    entryId: place || VIDEO_ID,
  };
  const sides: readonly Track[] = [
    ...(video ? [sound ? videoTrack(at(video)) : trackOf('video', { ...at(video), ...own })] : []),
    ...(sound ? [audioTrack({ ...at(sound), ...own })] : []),
  ];
  const audible = (formatId: string, language: string): Rendition => ({
    ...renditionOf([formatId]),
    id: formatId.padEnd(11, '_'),
    side: 'audio',
    fileExtension: '.m4a',
    mimeType: 'audio/mp4',
    language,
  });
  const said = { language: 'en', isAutomatic: false };
  return resourceOf(
    [
      ...sides,
      audioTrack({ ...at(alone, GERMAN), formatId: 'german', language: 'de' }),
      trackOf('text', at({ url: 'text.vtt', container: 'vtt', video: null, audio: null })),
    ],
    {
      id: resourceId(origin),
      origin,
      isLive,
      coverUrl: urlOf('cover.jpg'),
      ...(isLive ? {} : { durationSeconds: SECONDS }),
      details: { chapters: CHAPTERS },
      subtitles: [{ id: subtitleId(said), formatId: 'text', ...said }],
      renditions: [
        renditionOf(sides.map(({ formatId }) => formatId) as [string]),
        ...(sound && video ? [audible('audio', 'en')] : []),
        audible('german', 'de'),
      ],
    },
  );
}
