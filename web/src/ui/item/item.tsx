import { Actions } from './actions.tsx';
import '../../styles/choices.css';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { AudioVersion, MediaInformation, SubtitleInformation } from '../../api/index.ts';
import type { HistoryItem } from '../../history.ts';
import {
  type Choice,
  changed,
  choicesOf,
  clipFrom,
  type FormatPreference,
  holdsSubtitles,
  isClippable,
  isSkippable,
  languageChange,
  preferenceOf,
  secondsOfSegments,
  selectPreferred,
} from '../../renditions/index.ts';
import { type Playback, useObservable, usePage } from '../context.ts';
import { Button, Icon } from '../controls.tsx';
import { Cover } from '../cover.tsx';
import { useDetails, useSponsors, versionName } from '../details.ts';
import { DownloadNote } from '../download-note.tsx';
import { useLoaded } from '../hooks.ts';
import { useCountdown } from '../next-try.tsx';
import { useRanges } from '../ranges.ts';
import { ChoiceList, Disclosure } from './choice-list.tsx';
import { ItemDetails } from './item-details.tsx';
import { Extras, Sentence } from './sentence.tsx';

interface ItemProps {
  readonly item: MediaInformation;
  /** Within a playlist entry, which shows title and author. */
  readonly isNested?: boolean;
  /** Plays the selected rendition at once. */
  readonly startsPlaying?: boolean;
  /** One-based place in a playlist and its length. */
  readonly place?: { readonly number: number; readonly count: number } | undefined;
}

/** The first of each language: by people before automatic ones, as the service embeds them. */
const oneByLanguage = (subtitles: readonly SubtitleInformation[]): readonly SubtitleInformation[] =>
  [...subtitles]
    .sort((a, b) => Number(a.isAutomatic) - Number(b.isAutomatic))
    .filter(({ language }, index, all) => all.findIndex((other) => other.language === language) === index);

/** One item: metadata, renditions and actions. */
export const Item = ({ item, isNested, startsPlaying, place }: ItemProps) => {
  const { t, texts, formats, downloads, playback, primaryAction, startsDownload } = usePage();
  const { author, coverUrl, requestedUrl: link } = item;
  const listed = { link, title: item.title, author, coverUrl };
  const title = item.title ?? t('item.untitled');
  const [wish, setWish] = useState(() => formats.get());
  const [selectedId, setSelectedId] = useState<string>();
  // The result does not wait for details. The service has them from the resolve.
  const { details } = useDetails(link, isNested ? selectedId !== undefined : Boolean(item.video ?? item.audio));
  const choices = useMemo(() => {
    const nameOf = (version: AudioVersion) => versionName(version, texts);
    const known = details && { audio: details.audio, nameOf };
    return choicesOf(item, { place, preference: formats.get(), details: known });
  }, [item, details, texts]);
  const all = [...choices.video, ...choices.audio];
  const chosen = all.find(({ id }) => id === selectedId) ?? choices.preselected;
  const whole = useRanges(chosen, selectedId !== undefined);
  const current = useObservable(playback.current);
  const playing = current && all.find(({ id }) => id === current.choice.id);
  const durationSeconds = (!details?.isLive && details?.durationSeconds) || undefined;
  const hasParts = whole !== undefined && durationSeconds !== undefined && isClippable(whole);
  const clip = hasParts && playing ? current.clip : undefined;
  const hasText = whole && durationSeconds !== undefined && holdsSubtitles(whole);
  const byLanguage = oneByLanguage(hasText ? (details?.subtitles ?? []) : []);
  const embedded = byLanguage.find(({ language }) => language === wish?.subtitles)?.language;
  const extended = whole && embedded ? changed(whole, { subtitles: embedded }) : whole;
  const sponsors = useSponsors(hasParts && isSkippable(whole) ? details : undefined);
  const skippedSeconds = !clip && wish?.skipsSponsors ? secondsOfSegments(sponsors) : 0;
  const sentSeconds = clip ? clip.endSeconds - clip.startSeconds : (durationSeconds ?? 0) - skippedSeconds;
  const selected =
    extended && durationSeconds && (clip || skippedSeconds > 0)
      ? changed(extended, clip ? { clip } : { skipsSponsors: true }, sentSeconds / durationSeconds)
      : extended;
  const remember = (choice: Choice, more: Partial<FormatPreference> = {}) => {
    setSelectedId(choice.id);
    formats.set({ ...preferenceOf(choice), ...(whole && languageChange(choices, whole, choice)), ...more });
    setWish(formats.get());
  };
  const startOnce = () => {
    const url = selected && downloads.urlOf(selected);
    if (url && downloads.states.get().get(url)?.phase !== 'started') void downloads.start(url, listed);
  };
  useEffect(() => {
    if (isNested || !selected) return;
    primaryAction.current = startOnce;
    return () => {
      primaryAction.current = undefined;
    };
  }, [selected, isNested]);
  useEffect(() => {
    if (isNested || startsDownload.current !== link) return;
    startsDownload.current = undefined;
    startOnce();
  }, []);
  const play = (choice: Choice, startSeconds?: number) => {
    // Another format of the same item continues at the current position.
    const position = playing && playing.id !== choice.id ? playback.media.current?.currentTime : undefined;
    const now = { startSeconds: startSeconds ?? position, clip: playing && current?.clip };
    playback.current.set({ choice, title, author, coverUrl, link, ...now });
  };
  const toggleClip = () => {
    if (!playing && whole) play(whole);
    const { current: started, media } = playback;
    const playingNow = started.get();
    if (!playingNow) return;
    const position = playing ? (media.current?.currentTime ?? 0) : 0;
    started.set({ ...playingNow, clip: clip ? undefined : clipFrom(position, durationSeconds ?? 0) });
  };
  const seek = (seconds: number) => {
    const { current: media } = playback.media;
    if (playing && media) {
      media.currentTime = seconds;
      media.play().catch(() => undefined);
    } else if (whole) play(whole, seconds);
  };
  useEffect(() => {
    if (startsPlaying && choices.preselected) play(choices.preselected);
  }, []);
  return (
    <article class={isNested ? 'item nested' : 'item'} aria-label={title}>
      <div>
        <MediaStage
          title={title}
          link={link}
          coverUrl={coverUrl}
          durationSeconds={details?.durationSeconds && details.durationSeconds - skippedSeconds}
          isLive={details?.isLive}
          isAudio={(playing?.group ?? (choices.video.length === 0 ? 'audio' : 'video')) === 'audio'}
          isPlaying={playing !== undefined}
          onPlay={whole && (() => play(whole))}
        />
        {!isNested && <ItemHead title={title} author={author} />}
        {link && (
          <div class="details">
            <Disclosure title={t('details.title')}>
              {() => (
                <ItemDetails
                  link={link}
                  coverKey={all[0]?.rendition.key ?? null}
                  onSeek={selected && selected.canSeek !== false ? seek : undefined}
                  choice={hasParts ? extended : undefined}
                  item={listed}
                />
              )}
            </Disclosure>
          </div>
        )}
      </div>
      <div class="panel download-panel">
        {selected && whole ? (
          <>
            <Sentence
              choices={choices}
              selected={whole}
              onSelect={remember}
              onSelectGroup={(group) => remember(selectPreferred(choices, { ...wish, group }) ?? whole)}
            />
            <Extras
              subtitles={byLanguage}
              embedded={embedded}
              clip={clip}
              isSkipping={sponsors.length > 0 ? wish?.skipsSponsors === true : undefined}
              onWish={(more) => remember(whole, more)}
              onClip={hasParts ? toggleClip : undefined}
            />
            <Actions
              choice={selected}
              item={listed}
              onPlay={() => play(whole)}
              onWithoutSubtitles={() => remember(whole, { subtitles: undefined })}
            />
            <ChoiceList choices={choices} selected={whole} onSelect={remember} />
            {details?.isLive && <LiveNote choice={selected} item={listed} />}
            {selected.canSeek === false && !details?.isLive && <Note>{t('choices.noSeek')}</Note>}
            {details?.availableInSeconds && <StartNote availableAtMs={details.availableAtMs} />}
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
  const { t } = usePage();
  const wait = useMemo(() => ({ retrySeconds: Math.ceil((availableAtMs - Date.now()) / 1000) }), [availableAtMs]);
  const seconds = useCountdown(wait);
  if (seconds <= 0) return null;
  return <Note>{t('waiting.starts', { count: seconds })}</Note>;
};

const Note = ({ children }: { readonly children: string }) => (
  <p class="note figures">
    <Icon name="clock" />
    {children}
  </p>
);

const ItemHead = ({ title, author }: Pick<Playback, 'title' | 'author'>) => (
  <div class="item-head">
    <h2 dir="auto">{title}</h2>
    {author && (
      <p class="byline">
        <bdi>{author}</bdi>
      </p>
    )}
  </div>
);

interface MediaStageProps {
  readonly title: string;
  readonly link: string | null;
  readonly coverUrl: string | null;
  /** Absent while unknown. */
  readonly durationSeconds?: number | null;
  readonly isLive?: boolean;
  readonly isAudio: boolean;
  /** The page's player plays a choice of this item. */
  readonly isPlaying: boolean;
  /** Absent without renditions. */
  readonly onPlay: (() => void) | undefined;
}

/** The cover, or the place of the page's player. */
const MediaStage = (props: MediaStageProps) => {
  const { title, link, coverUrl, durationSeconds, isLive, isAudio, isPlaying, onPlay } = props;
  const { t, format, playback } = usePage();
  const play = useRef<HTMLButtonElement>(null);
  const slot = useRef<HTMLDivElement>(null);
  const hasPlayed = useRef(false);
  useEffect(() => {
    // Closing the player returns the focus to the button that opened it.
    if (!isPlaying && hasPlayed.current) play.current?.focus({ preventScroll: true });
    hasPlayed.current = isPlaying;
  }, [isPlaying]);
  // Layout effects are cleaned up before the slot is removed: the player moves on within the same task.
  useLayoutEffect(() => {
    const { current } = slot;
    if (!isPlaying || !current) return;
    playback.stage.set(current);
    return () => {
      if (playback.stage.get() === current) playback.stage.set(undefined);
    };
  }, [isPlaying]);

  const duration = durationSeconds && format.clock(durationSeconds);
  if (isPlaying) return <div class={isAudio ? 'player-slot audio' : 'player-slot'} ref={slot} />;
  return (
    <div class={coverUrl ? 'media-stage' : 'media-stage bare'}>
      <Cover url={coverUrl} link={link} />
      {onPlay && (
        <button
          ref={play}
          type="button"
          class="media-play"
          aria-label={t('action.playNamed', { title })}
          onClick={onPlay}
        >
          <span>
            <Icon name="play" />
          </span>
        </button>
      )}
      {isLive && <p class="media-length live">{t('details.live')}</p>}
      {!isLive && duration && (
        <p class="media-length figures">
          <span class="visually-hidden">{t('details.duration', { duration })}</span>
          <span aria-hidden="true">{duration}</span>
        </p>
      )}
    </div>
  );
};

const LAST_SECONDS = 300;

/** What the download of a live stream is, and its last minutes as a file: as many as its source holds, where that is known. */
const LiveNote = ({ choice, item }: { readonly choice: Choice; readonly item: HistoryItem }) => {
  const { t, format, api, downloads } = usePage();
  const { key } = choice.rendition;
  const seconds = useLoaded(() => heldSeconds(api.hlsUrl(key ?? '', 'held')), [key]);
  const url = downloads.urlOf({ ...choice, lastSeconds: LAST_SECONDS });
  return (
    <>
      <Note>{t('live.note')}</Note>
      {seconds && (
        <Button icon="download" onClick={() => void downloads.start(url, item)}>
          {t('live.last', { duration: format.duration(seconds) })}
        </Button>
      )}
      <DownloadNote url={url} link={item.link} />
    </>
  );
};

/** At most `LAST_SECONDS`, which is also taken where there is no such playlist. @param url of a multivariant playlist */
async function heldSeconds(url: string): Promise<number> {
  const read = (address = '') =>
    fetch(new URL(address, url)).then(
      (response) => response.text(),
      () => '',
    );
  const [variant] = /^\w.*/m.exec(await read()) ?? [];
  const segments = (await read(variant)).matchAll(/^#EXTINF:([\d.]+)/gm);
  const held = segments.reduce((sum, [, seconds]) => sum + Number(seconds), 0);
  return Math.min(Math.floor(held), LAST_SECONDS) || LAST_SECONDS;
}
