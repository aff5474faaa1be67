import '../../styles/choices.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { MediaInformation } from '../../api/index.ts';
import {
  type AudioVersion,
  type Choice,
  choicesOf,
  clipOf,
  type FormatPreference,
  holdsSubtitles,
  isClippable,
  isSkippable,
  languageChange,
  preferenceOf,
  SEGMENT_CATEGORIES,
  secondsOfSegments,
  selectPreferred,
  withExtras,
  withoutSegments,
} from '../../renditions/index.ts';
import { useObservable, usePage } from '../context.ts';
import { Icon, useCountdown } from '../controls/index.ts';
import { type SubtitleInformation, useDetails, useSegments, versionName } from '../details/index.ts';
import { isRangeDoubtful, useRanges } from '../ranges/index.ts';
import { Actions } from './actions.tsx';
import { ChoiceList } from './choice-list.tsx';
import { DetailsButton } from './details-button.tsx';
import { LiveNote } from './live-note.tsx';
import { MediaStage } from './media-stage.tsx';
import { Sentence } from './sentence.tsx';

export interface ItemProps {
  readonly item: MediaInformation;
  /** Within a playlist entry, which shows title and author. */
  readonly isNested?: boolean;
  /** Plays the selected rendition at once. */
  readonly startsPlaying?: boolean;
  /** One-based place in a playlist and its length. */
  readonly place?: { readonly number: number; readonly count: number };
}

/** The first of each language: by people before automatic ones, as the service embeds them. */
const oneByLanguage = (subtitles: readonly SubtitleInformation[]): readonly SubtitleInformation[] =>
  [...subtitles]
    .sort((a, b) => Number(a.isAutomatic) - Number(b.isAutomatic))
    .filter(({ language }, index, all) => all.findIndex((other) => other.language === language) === index);

const hasRenditions = ({ video, audio }: MediaInformation): boolean => Boolean(video ?? audio);

/** One item: metadata, renditions and actions. */
export const Item = ({ item, isNested, startsPlaying, place }: ItemProps) => {
  const { texts, formats, downloads, playback, primaryAction, startsDownload } = usePage();
  const { t } = texts;
  const { author, coverUrl, requestedUrl: link } = item;
  const listed = { link, title: item.title, author, coverUrl };
  const title = item.title ?? t('item.untitled');
  const [wish, setWish] = useState(() => formats.get());
  const [selectedId, setSelectedId] = useState<string>();
  // From the resolve that the service has stored; the result does not wait for it.
  const { details } = useDetails(item.requestedUrl, isNested ? selectedId !== undefined : hasRenditions(item));
  const audio = details?.audio;
  const choices = useMemo(() => {
    // With its language, the original as well: its file is told apart by it.
    const nameOf = (version: AudioVersion) => versionName({ ...version, isOriginal: false }, false, texts);
    return choicesOf(item, { place, audio, preference: formats.get(), words: { locale: texts.locale, nameOf } });
  }, [item, audio, texts]);
  const all = [...choices.video, ...choices.audio, ...choices.mp3];
  const chosen = all.find(({ id }) => id === selectedId) ?? choices.preselected;
  // Range support is requested after a choice, and where it is doubtful.
  const whole = useRanges(chosen, selectedId !== undefined || (chosen !== undefined && isRangeDoubtful(chosen)));
  const current = useObservable(playback.current);
  const playing = current && all.find(({ id }) => id === current.choice.id);
  const durationSeconds = details?.isLive ? null : details?.durationSeconds;
  const hasParts = whole !== undefined && Boolean(durationSeconds) && isClippable(whole);
  const clip = hasParts && playing ? current.clip : undefined;
  const subtitles = whole && durationSeconds && holdsSubtitles(whole) ? details?.subtitles : [];
  const byLanguage = oneByLanguage(subtitles ?? []);
  const embedded = byLanguage.find(({ language }) => language === wish?.subtitles)?.language;
  const extended = whole && withExtras(whole, { hasTags: wish?.hasTags, subtitles: embedded });
  const reported = useSegments(hasParts && isSkippable(whole) ? details : undefined);
  const segments = SEGMENT_CATEGORIES.filter((name) => reported.some(({ category }) => category === name));
  // What was left out of another item, of what this one has.
  const skipped = segments.filter((name) => wish?.skip?.includes(name));
  const isMarked = skipped.length === 0 && segments.length > 0 && wish?.isMarked === true;
  const skippedSeconds = clip ? 0 : secondsOfSegments(reported, skipped);
  const share = 1 - skippedSeconds / (durationSeconds || 1);
  const selected =
    extended &&
    (clip
      ? clipOf(extended, clip, durationSeconds || clip.endSeconds)
      : skippedSeconds > 0
        ? withoutSegments(extended, skipped, share)
        : isMarked
          ? { ...extended, mark: segments, isSizeEstimate: true }
          : extended);
  const remember = (choice: Choice, more: Partial<FormatPreference> = {}) => {
    setSelectedId(choice.id);
    formats.set({ ...preferenceOf(choice), ...(whole && languageChange(choices, whole, choice)), ...more });
    setWish(formats.get());
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
    if (isNested || (startsDownload.current !== true && startsDownload.current !== link)) return;
    startsDownload.current = false;
    if (selected) void downloads.start(downloads.fileOf(selected), listed);
  }, []);
  const play = (choice: Choice, startSeconds?: number) => {
    // Another format of the same item continues where the current one is.
    const position = playing && playing.id !== choice.id ? playback.media.current?.currentTime : undefined;
    const now = { startSeconds: startSeconds ?? position, clip: playing && current?.clip };
    playback.current.set({ choice, title, author, coverUrl, link, isLive: details?.isLive, ...now });
  };
  const toggleClip = (isClip: boolean) => {
    if (!playing && whole && isClip) play(whole);
    const { current: started } = playback;
    const part = { startSeconds: 0, endSeconds: Math.ceil(durationSeconds ?? 0) };
    const playingNow = started.get();
    if (playingNow) started.set({ ...playingNow, clip: isClip ? (playingNow.clip ?? part) : undefined });
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
          coverUrl={item.coverUrl}
          durationSeconds={details?.durationSeconds && details.durationSeconds - skippedSeconds}
          isLive={details?.isLive}
          isAudio={(playing?.element ?? (choices.video.length === 0 ? 'audio' : 'video')) === 'audio'}
          isPlaying={playing !== undefined}
          onPlay={whole && (() => play(whole))}
        />
        {!isNested && <ItemHead title={title} author={item.author} link={item.requestedUrl} />}
        {item.requestedUrl && (
          <DetailsButton
            link={item.requestedUrl}
            coverKey={all[0]?.rendition.key ?? null}
            onSeek={selected && selected.canSeek !== false ? seek : undefined}
            choice={hasParts ? extended : undefined}
            item={listed}
          />
        )}
      </div>
      <div class="panel download-panel">
        {selected && whole ? (
          <>
            <Sentence
              choices={choices}
              wish={wish}
              embedded={embedded}
              clip={clip}
              segments={segments}
              skipped={skipped}
              isMarked={isMarked}
              selected={whole}
              subtitles={byLanguage}
              onSelect={remember}
              onSelectGroup={(group) => {
                const choice = selectPreferred(choices, { ...wish, group });
                if (choice) remember(choice);
              }}
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
            {selected.canSeek === false && !details?.isLive && (
              <p class="note">
                <Icon name="clock" />
                {t('choices.noSeek')}
              </p>
            )}
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
