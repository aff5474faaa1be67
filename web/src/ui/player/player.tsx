import { useEffect, useRef, useState } from 'preact/hooks';
import { untilStreamable } from '../../api/index.ts';
import { isClippable } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Cover, Icon } from '../controls/index.ts';
import { type Chapter, subtitleName, useDetails } from '../details/index.ts';
import type { Playback } from '../playback.ts';
import { isRangeDoubtful, playbackUrl, useRanges } from '../ranges/index.ts';
import { toFailure } from '../session.ts';
import { ChapterMenu } from './chapter-menu.tsx';
import { type PlaybackProblem, PlayerMessage } from './player-message.tsx';
import { Trimmer } from './trimmer.tsx';
import { useMediaSession } from './use-media-session.ts';
import { useMediaState } from './use-media-state.ts';

export interface PlayerProps {
  readonly playback: Playback;
  /** Docked to the edge of the window. */
  readonly isMini: boolean;
  readonly onOpen: (link: string) => void;
}

/** Seconds before the newest media where going back begins. */
const BACK_SECONDS = 30;

/** In the place of those that are not known. */
const NO_CHAPTERS: readonly Chapter[] = [];

/** Whether the browser itself plays HLS. */
const playsHls = () => document.createElement('video').canPlayType('application/vnd.apple.mpegurl') !== '';

/** Plays one choice by the browser's own controls, with the chapters and the part to download beside them. */
export const Player = ({ playback, isMini, onOpen }: PlayerProps) => {
  const { api, texts, playback: player } = usePage();
  const { t } = texts;
  const { title, coverUrl, link, startSeconds = 0 } = playback;
  const { key, convertTo } = playback.choice.rendition;
  // A browser that plays HLS itself seeks in what a live stream holds.
  const mayGoBack = playback.isLive === true && key !== undefined && !convertTo && playsHls();
  const [isHeld, setHeld] = useState(false);
  const choice = useRanges(playback.choice, isRangeDoubtful(playback.choice));
  const url = isHeld && key ? api.heldUrl(key) : playbackUrl(api, choice);
  const isVideo = choice.element === 'video';
  const media = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  const state = useMediaState(media);
  const canSeek = isHeld || (choice.canSeek !== false && state.durationSeconds !== Number.POSITIVE_INFINITY);
  /** Of the video's width to its height, once it is known. */
  const [ratio, setRatio] = useState<number>();
  const [problem, setProblem] = useState<PlaybackProblem>();
  const asking = useRef<AbortController>(null);
  const hasAsked = useRef(false);
  const couldNotSeek = useRef<string>(undefined);
  const { details } = useDetails(link, canSeek);
  const chapters = details?.chapters ?? NO_CHAPTERS;
  const close = () => player.current.set(undefined);

  useEffect(() => {
    const { current } = media;
    // Before data is loaded, currentTime sets the default playback start position (HTML standard).
    if (current && startSeconds > 0) current.currentTime = startSeconds;
  }, [playback.choice.id]);
  useEffect(() => {
    const { current } = media;
    player.media.current = current;
    current?.focus({ preventScroll: true });
    return () => {
      asking.current?.abort();
      if (player.media.current === current) player.media.current = null;
    };
  }, []);
  useMediaSession(playback);

  const again = () => {
    const { current } = media;
    if (!current) return;
    setProblem(undefined);
    const place = current.currentTime;
    current.load();
    if (canSeek) current.currentTime = place;
    // Autoplay may be blocked; the controls remain.
    current.play().catch(() => undefined);
  };
  // A media element does not report the cause: a request to the stream does.
  const explain = async () => {
    // Not every live stream is held, and an earlier version of an instance has no such list.
    if (isHeld) {
      setHeld(false);
      return;
    }
    if (hasAsked.current) {
      setProblem({ kind: media.current?.currentTime ? 'interrupted' : 'unsupported' });
      return;
    }
    asking.current = new AbortController();
    const { signal } = asking.current;
    try {
      await untilStreamable(url, { signal, onWaiting: (waiting) => setProblem({ kind: 'waiting', waiting }) });
      hasAsked.current = true;
      again();
    } catch (error) {
      if (!signal.aborted) setProblem({ kind: 'failed', failure: toFailure(error) });
    }
  };
  const retry = () => {
    hasAsked.current = false;
    again();
  };
  useEffect(() => {
    if (choice.canSeek === false) couldNotSeek.current = url;
    // The browser has the stream without ranges.
    else if (choice.canSeek && couldNotSeek.current === url) again();
  }, [choice.canSeek, url]);
  const toggle = () => {
    const { current } = media;
    // Autoplay may be blocked.
    if (current?.paused) current.play().catch(() => undefined);
    else current?.pause();
  };

  const common = {
    ref: media,
    src: url,
    controls: !isMini,
    autoplay: true,
    preload: 'metadata',
    tabIndex: 0,
    'aria-label': t('player.label', { title }),
    onError: explain,
    onLoadedMetadata: () => {
      const { current } = media;
      if (current?.videoHeight) setRatio(current.videoWidth / current.videoHeight);
      if (current && isHeld) current.currentTime = Math.max(0, current.duration - BACK_SECONDS);
    },
    onPlaying: () => {
      hasAsked.current = false;
    },
  } as const;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape is a shortcut; the button beside it does the same.
    <div
      class={['player', isMini && 'mini', !isVideo && 'audio', !canSeek && 'unseekable'].filter(Boolean).join(' ')}
      onKeyDown={({ key }) => key === 'Escape' && !document.fullscreenElement && close()}
    >
      <div
        class={isVideo ? 'media-stage playing' : 'player-audio'}
        style={!isMini && ratio ? { aspectRatio: ratio } : undefined}
      >
        {isVideo ? (
          <video {...common} playsInline poster={coverUrl ?? undefined}>
            <SubtitleTracks link={link} />
          </video>
        ) : (
          <>
            <Cover url={coverUrl} fallback="music" isWhole />
            <audio {...common} />
          </>
        )}
        {problem && !isMini && <PlayerMessage problem={problem} link={link} onRetry={retry} />}
      </div>
      {isMini && (
        <p class="player-title">
          <a
            href={link ?? undefined}
            dir="auto"
            onClick={(event) => {
              event.preventDefault();
              if (link) onOpen(link);
            }}
          >
            {title}
          </a>
          {problem && <span class="error-text">{t('player.stopped')}</span>}
        </p>
      )}
      <div class="row player-tools">
        {isMini && (
          <button
            type="button"
            class="button plain small square"
            aria-label={t(state.isPaused ? 'player.play' : 'player.pause')}
            onClick={toggle}
          >
            <Icon name={state.isPaused ? 'play' : 'pause'} />
          </button>
        )}
        {!isMini && !canSeek && <p class="muted">{t('player.noSeek')}</p>}
        {!isMini && canSeek && chapters.length > 1 && (
          <ChapterMenu media={media} seconds={state.seconds} chapters={chapters} />
        )}
        {!isMini && mayGoBack && (
          <button type="button" class="button plain small" onClick={() => setHeld(!isHeld)}>
            {t(isHeld ? 'player.toLive' : 'player.goBack')}
          </button>
        )}
        {!isMini && isClippable(choice) && Number.isFinite(state.durationSeconds) && (
          <Trimmer playback={playback} media={media} durationSeconds={state.durationSeconds} />
        )}
      </div>
      <button type="button" class="button square small player-close" aria-label={t('player.close')} onClick={close}>
        <Icon name="close" />
      </button>
    </div>
  );
};

/** The subtitles of an item as tracks of its video, once they are known. Automatic ones come last. */
const SubtitleTracks = ({ link }: { readonly link: string | null }) => {
  const { api, texts } = usePage();
  const { details } = useDetails(link, true);
  const subtitles = details?.subtitles ?? [];
  const sorted = [...subtitles].sort((a, b) => Number(a.isAutomatic) - Number(b.isAutomatic));
  return sorted.map((subtitle) => (
    <track
      key={subtitle.key}
      kind="subtitles"
      src={api.subtitleUrl(subtitle.key, 'vtt')}
      srcLang={subtitle.language}
      label={subtitleName(subtitle, sorted, texts)}
    />
  ));
};
