import '../../styles/choices.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { MediaInformation } from '../../api/index.ts';
import { type Choice, type ChoiceGroup, choicesOf, preferenceOf, withAllAudio } from '../../renditions/index.ts';
import { useObservable, usePage } from '../context.ts';
import { Icon, useCountdown } from '../controls/index.ts';
import { useOffers } from '../conversions/index.ts';
import { useDetails } from '../details/index.ts';
import { isRangeDoubtful, useRanges } from '../ranges/index.ts';
import { Actions } from './actions.tsx';
import { ChoiceList } from './choice-list.tsx';
import { DetailsButton } from './details-button.tsx';
import { MediaStage } from './media-stage.tsx';

export interface ItemProps {
  readonly item: MediaInformation;
  /** Within a playlist entry, which shows title and author. */
  readonly isNested?: boolean;
  /** Plays the selected rendition at once. */
  readonly startsPlaying?: boolean;
  /** One-based place in a playlist and its length. */
  readonly place?: { readonly number: number; readonly count: number };
}

const hasRenditions = ({ video, audio }: MediaInformation): boolean => Boolean(video ?? audio);

/** One item: metadata, renditions and actions. */
export const Item = ({ item, isNested, startsPlaying, place }: ItemProps) => {
  const { texts, formats, fileNames, downloads, playback, primaryAction, startsDownload } = usePage();
  const { t } = texts;
  const { author, coverUrl, requestedUrl: link } = item;
  const listed = { link, title: item.title, author, coverUrl };
  const title = item.title ?? t('item.untitled');
  const pattern = useObservable(fileNames.pattern);
  const offers = useOffers();
  const options = { place, pattern, offers, preference: formats.get() };
  const [selectedId, setSelectedId] = useState<string>();
  // From the resolve that the service has stored; the result does not wait for it.
  const { details } = useDetails(item.requestedUrl, isNested ? selectedId !== undefined : hasRenditions(item));
  const full = useMemo(() => withAllAudio(item, details?.audio), [item, details]);
  const choices = useMemo(() => choicesOf(full, options), [full, pattern, offers]);
  const all = [...choices.video, ...choices.audio, ...choices.mp3];
  const chosen = all.find(({ id }) => id === selectedId) ?? choices.preselected;
  // Range support is requested after a choice, and where it is doubtful.
  const selected = useRanges(chosen, selectedId !== undefined || (chosen !== undefined && isRangeDoubtful(chosen)));
  const current = useObservable(playback.current);
  const playing = current && all.find(({ id }) => id === current.choice.id);
  const select = (choice: Choice) => {
    setSelectedId(choice.id);
    formats.set(preferenceOf(choice));
  };
  const selectGroup = (group: ChoiceGroup) => {
    const { preselected } = choicesOf(full, { ...options, preference: { ...formats.get(), group } });
    if (preselected) select(preselected);
  };
  useEffect(() => {
    if (isNested || !selected) return;
    primaryAction.current = () => {
      const file = downloads.fileOf(selected);
      if (downloads.states.get().get(file.url)?.phase !== 'started') void downloads.start(file, listed);
    };
    return () => {
      primaryAction.current = undefined;
    };
  }, [selected, isNested]);
  useEffect(() => {
    // With the tags and the bit rate that the instance offers.
    if (isNested || !offers || (startsDownload.current !== true && startsDownload.current !== link)) return;
    startsDownload.current = false;
    if (selected) void downloads.start(downloads.fileOf(selected), listed);
  }, [offers]);
  const play = (choice: Choice, startSeconds?: number) => {
    // Another format of the same item continues where the current one is.
    const position = playing && playing.id !== choice.id ? playback.media.current?.currentTime : undefined;
    playback.current.set({ choice, title, author, coverUrl, link, startSeconds: startSeconds ?? position });
  };
  const seek = (seconds: number) => {
    const { current: media } = playback.media;
    if (playing && media) {
      media.currentTime = seconds;
      media.play().catch(() => undefined);
    } else if (selected) play(selected, seconds);
  };
  useEffect(() => {
    if (startsPlaying && choices.preselected) play(choices.preselected);
  }, []);
  return (
    <article class={isNested ? 'item nested' : 'item'} aria-label={title}>
      <div>
        <MediaStage
          title={title}
          coverUrl={item.coverUrl}
          durationSeconds={details?.durationSeconds}
          isLive={details?.isLive}
          isAudio={(playing?.element ?? (choices.video.length === 0 ? 'audio' : 'video')) === 'audio'}
          isPlaying={playing !== undefined}
          onPlay={selected && (() => play(selected))}
        />
        {!isNested && <ItemHead title={title} author={item.author} link={item.requestedUrl} />}
        {item.requestedUrl && (
          <DetailsButton
            link={item.requestedUrl}
            coverKey={all[0]?.rendition.key ?? null}
            onSeek={selected && selected.canSeek !== false ? seek : undefined}
          />
        )}
      </div>
      <div class="panel download-panel">
        {selected ? (
          <>
            <ChoiceList choices={choices} selected={selected} onSelect={select} onSelectGroup={selectGroup} />
            {selected.canSeek === false && (
              <p class="note">
                <Icon name="clock" />
                {t('choices.noSeek')}
              </p>
            )}
            {details?.availableInSeconds && <StartNote availableAtMs={details.availableAtMs} />}
            <Actions choice={selected} item={listed} onPlay={() => play(selected)} />
          </>
        ) : (
          <p>{t('item.nothing')}</p>
        )}
      </div>
    </article>
  );
};

/** Countdown to the moment from which the site serves the item. */
const StartNote = ({ availableAtMs }: { readonly availableAtMs: number }) => {
  const { texts } = usePage();
  const wait = useMemo(() => ({ retrySeconds: Math.ceil((availableAtMs - Date.now()) / 1000) }), [availableAtMs]);
  const seconds = useCountdown(wait);
  if (seconds <= 0) return null;
  return (
    <p class="note figures">
      <Icon name="clock" />
      {texts.t('waiting.starts', { count: seconds })}
    </p>
  );
};

interface ItemHeadProps {
  readonly title: string;
  readonly author: string | null;
  readonly link: string | null;
}

const ItemHead = ({ title, author, link }: ItemHeadProps) => {
  const host = hostOf(link);
  return (
    <div class="item-head">
      <h2 dir="auto">{title}</h2>
      <p class="byline">
        {author && <bdi>{author}</bdi>}
        {host && (
          <span>
            <a href={link ?? undefined} target="_blank" rel="noreferrer" dir="ltr">
              {host}
            </a>
          </span>
        )}
      </p>
    </div>
  );
};

/** Host of a web link; undefined for other schemes. */
const hostOf = (link: string | null): string | undefined => {
  const url = link ? URL.parse(link) : null;
  return url && /^https?:$/.test(url.protocol) ? url.host : undefined;
};
