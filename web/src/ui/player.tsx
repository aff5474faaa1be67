import '../styles/player.css';
import { type RefObject, render } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type ApiFailure, type MediaDetails, untilStreamable, type Waiting } from '../api/index.ts';
import { shareableLocation } from '../links.ts';
import { ALL_LANGUAGES } from '../renditions/index.ts';
import type { Texts } from '../texts.ts';
import { PageContext, type Playback, useObservable, usePage } from './context.ts';
import { Button, Select } from './controls.tsx';
import { Cover } from './cover.tsx';
import { subtitleName, useDetails } from './details.ts';
import { type FailureText, streamFailureText } from './failure-text.ts';
import { NextTry } from './next-try.tsx';
import { playbackUrl, useRanges } from './ranges.ts';
import { toFailure } from './session.ts';
import { Trimmer } from './trimmer.tsx';

/**
 * The player of the page, in the stage of the result or docked to the edge of the window. It is rendered into an element
 * of its own that moves between the two: a media element that is moved within one task keeps playing (HTML standard,
 * removing steps of media elements).
 */
export const PlayerHost = () => {
  const page = usePage();
  const { current, stage } = page.playback;
  const playback = useObservable(current);
  const isDocked = useObservable(stage) === undefined;
  const dock = useRef<HTMLElement>(null);
  const root = useRef<HTMLDivElement | null>(null);
  root.current ??= document.createElement('div');

  useLayoutEffect(() => {
    const place = () => {
      const target = stage.get() ?? dock.current;
      if (root.current && target && root.current.parentNode !== target) target.append(root.current);
    };
    place();
    return stage.subscribe(place);
  }, [stage]);
  useEffect(() => {
    if (!root.current) return;
    render(
      <PageContext.Provider value={page}>
        {playback && <Player key={playback.choice.id} playback={playback} isMini={isDocked} />}
      </PageContext.Provider>,
      root.current,
    );
    if (dock.current) dock.current.ariaLabel = page.t('player.label', { title: playback?.title ?? '' });
  });
  useEffect(
    () => () => {
      if (root.current) render(null, root.current);
    },
    [],
  );
  return <aside class="mini-player" ref={dock} hidden={!playback || !isDocked} />;
};

interface PlayerProps {
  readonly playback: Playback;
  /** Docked to the edge of the window. */
  readonly isMini: boolean;
}

/** Distance from the newest media at which "go back" starts to play. */
const BACK_SECONDS = 30;

/** Whether the element can play only the bytes received so far. */
const isUnseekable = ({ duration, seekable }: HTMLMediaElement): boolean =>
  duration === Number.POSITIVE_INFINITY || (seekable.length > 0 && seekable.end(seekable.length - 1) < duration - 1);

/** Plays one choice by the browser's own controls, with the chapters and the part to download beside them. */
export const Player = ({ playback, isMini }: PlayerProps) => {
  const { t, api, format, playback: player } = usePage();
  const { title, author, coverUrl, link, startSeconds = 0 } = playback;
  const choice = useRanges(playback.choice);
  const { key, convertTo } = choice.rendition;
  const { details } = useDetails(link, true);
  const isLive = details?.isLive === true;
  const hasHls = key !== undefined && key !== null && !convertTo;
  /** HLS instead of the file: `held` for the part of a live stream that is still available, `master` for a recording that the browser does not play as a file. */
  const [hls, setHls] = useState<'held' | 'master'>();
  const isHeld = hls === 'held';
  const language = choice.audio === ALL_LANGUAGES ? undefined : choice.audio;
  const url = hls && hasHls ? api.hlsUrl(key, hls, language) : playbackUrl(api, choice);
  const isByLibrary = hls !== undefined && !playsHls();
  const [attempt, setAttempt] = useState(0);
  const isVideo = choice.group === 'video';
  const media = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  const [, redraw] = useState({});
  const { paused = true, currentTime = 0, duration = Number.NaN } = media.current ?? {};
  const canSeek = hls !== undefined || (choice.canSeek !== false && !(media.current && isUnseekable(media.current)));
  /** The video's width divided by its height, once known. */
  const [ratio, setRatio] = useState<number>();
  const [problem, setProblem] = useState<PlaybackProblem>();
  /** A device is in reach that can play it. */
  const [hasScreens, setHasScreens] = useState(false);
  const asking = useRef<AbortController>(null);
  const hasAsked = useRef(false);
  const couldNotSeek = useRef<string>(undefined);
  const chapters = details?.chapters ?? [];
  const chapter = chapters.findLastIndex(({ startSeconds: start }) => Math.floor(start) <= currentTime);
  const close = () => player.current.set(undefined);

  useEffect(() => {
    const { current } = media;
    // Before data is loaded, currentTime sets the default playback start position (HTML standard).
    if (current && startSeconds > 0) current.currentTime = startSeconds;
  }, [choice.id, hls]);
  useEffect(() => {
    const { current } = media;
    player.media.current = current;
    current?.focus({ preventScroll: true });
    return () => {
      asking.current?.abort();
      if (player.media.current === current) player.media.current = null;
    };
  }, []);
  useEffect(() => {
    // Not in every browser: AirPlay in Safari, Cast in Chromium.
    const remote = media.current?.remote;
    const ignore = () => undefined;
    remote?.watchAvailability(setHasScreens).catch(ignore);
    return () => void remote?.cancelWatchAvailability().catch(ignore);
  }, []);
  useEffect(() => {
    // Web views may lack it.
    const { mediaSession } = navigator as Partial<Navigator>;
    if (!mediaSession) return;
    const artwork = coverUrl ? [{ src: coverUrl }] : [];
    mediaSession.metadata = new MediaMetadata({ title, artist: author ?? '', artwork });
    return () => {
      mediaSession.metadata = null;
    };
  }, [title, author, coverUrl]);

  const again = () => {
    const { current } = media;
    if (!current) return;
    setProblem(undefined);
    const place = current.currentTime;
    if (isByLibrary) setAttempt(attempt + 1);
    else current.load();
    if (canSeek) current.currentTime = place;
    // Autoplay may be blocked; the controls remain.
    current.play().catch(() => undefined);
  };
  // A media element does not report the cause of an error, so the stream is requested once more.
  const explain = async () => {
    // Not every live stream has this list, and earlier versions of the service lack it.
    if (isHeld) {
      setHls(undefined);
      return;
    }
    if (hasAsked.current) {
      if (currentTime >= 1) setProblem('interrupted');
      else if (!hls && hasHls && !isLive) setHls('master');
      else setProblem('unsupported');
      return;
    }
    asking.current = new AbortController();
    const { signal } = asking.current;
    try {
      await untilStreamable(url, { signal, onWaiting: setProblem });
      hasAsked.current = true;
      again();
    } catch (error) {
      if (!signal.aborted) setProblem(toFailure(error));
    }
  };
  useHls(media, isByLibrary ? url : undefined, attempt, explain);
  const retry = () => {
    hasAsked.current = false;
    again();
  };
  useEffect(() => {
    if (choice.canSeek === false) couldNotSeek.current = url;
    // The browser loaded the stream before it had ranges.
    else if (choice.canSeek && couldNotSeek.current === url) again();
  }, [choice.canSeek, url]);
  const toggle = () => {
    const { current } = media;
    // Autoplay may be blocked.
    if (current?.paused) current.play().catch(() => undefined);
    else current?.pause();
  };

  const update = () => redraw({});
  const common = {
    ref: media,
    src: isByLibrary ? undefined : url,
    controls: !isMini,
    autoplay: true,
    preload: 'metadata',
    tabIndex: 0,
    'aria-label': t('player.label', { title }),
    // When the library plays HLS, it reports failures itself, and the element's error only says that it has no `src`.
    onError: isByLibrary ? undefined : explain,
    onLoadedMetadata: () => {
      const { current } = media;
      if (current?.videoHeight) setRatio(current.videoWidth / current.videoHeight);
      // The browser takes the file for endless although it has ranges: HLS of it can be sought.
      if (current?.duration === Number.POSITIVE_INFINITY && choice.canSeek && hasHls && !hls && !isLive)
        setHls('master');
      if (current && isHeld) current.currentTime = Math.max(0, current.duration - BACK_SECONDS);
    },
    onPlaying: () => {
      hasAsked.current = false;
    },
    onPlay: update,
    onPause: update,
    onTimeUpdate: update,
    onDurationChange: update,
    onEmptied: update,
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
            <SubtitleTracks subtitles={details?.subtitles ?? []} />
          </video>
        ) : (
          <>
            <Cover url={coverUrl} link={link} />
            <audio {...common} />
          </>
        )}
        {problem && !isMini && <PlayerMessage problem={problem} link={link} onRetry={retry} />}
      </div>
      {isMini && (
        <p class="player-title">
          <a href={link ? shareableLocation([link]) : undefined} dir="auto">
            {title}
          </a>
          {problem && <span class="error-text">{t('player.stopped')}</span>}
        </p>
      )}
      <div class="row player-tools">
        {isMini && (
          <Button icon={paused ? 'play' : 'pause'} name={t(paused ? 'player.play' : 'player.pause')} onClick={toggle} />
        )}
        {!isMini && !canSeek && <p class="muted">{t('player.noSeek')}</p>}
        {!isMini && canSeek && chapters.length > 1 && (
          <Select
            label={t('player.chapter')}
            value={String(Math.max(chapter, 0))}
            options={chapters.map((_, index) => String(index))}
            nameOf={(index) => {
              const { title: name = null, startSeconds: start = 0 } = chapters[Number(index)] ?? {};
              return [format.clock(start), name].filter(Boolean).join(' ');
            }}
            onChange={(index) => {
              if (media.current) media.current.currentTime = chapters[Number(index)]?.startSeconds ?? 0;
            }}
          />
        )}
        {!isMini && hasScreens && (
          <Button icon="cast" onClick={() => media.current?.remote.prompt().catch(() => undefined)}>
            {t('player.remote')}
          </Button>
        )}
        {!isMini && isLive && hasHls && (
          <Button onClick={() => setHls(isHeld ? undefined : 'held')}>
            {t(isHeld ? 'player.toLive' : 'player.goBack')}
          </Button>
        )}
        {!isMini && playback.clip && Number.isFinite(duration) && (
          <Trimmer playback={playback} clip={playback.clip} media={media} durationSeconds={duration} />
        )}
      </div>
      <Button look="small player-close" icon="close" name={t('player.close')} onClick={close} />
    </div>
  );
};

/** The subtitles of an item as tracks of its video, once they are known. Automatic ones come last. */
const SubtitleTracks = ({ subtitles }: Pick<MediaDetails, 'subtitles'>) => {
  const { api, texts } = usePage();
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

/** Why nothing plays. */
type PlaybackProblem = Waiting | ApiFailure | 'unsupported' | 'interrupted';

interface PlayerMessageProps {
  readonly problem: PlaybackProblem;
  /** The page that it is from. */
  readonly link: string | null;
  readonly onRetry: () => void;
}

/** Explains over the player why nothing plays. */
const PlayerMessage = ({ problem, link, onRetry }: PlayerMessageProps) => {
  const { t, texts } = usePage();
  const { title, what } = textOf(texts, problem, link);
  return (
    <div class="player-message">
      <div role="alert">
        <p>
          <strong>{title}</strong>
        </p>
        {what && <p>{what}</p>}
      </div>
      {isWaiting(problem) && <NextTry waiting={problem} />}
      {!isWaiting(problem) && problem !== 'unsupported' && (
        <Button look="small" icon="retry" onClick={onRetry}>
          {t('action.retry')}
        </Button>
      )}
    </div>
  );
};

const isWaiting = (problem: PlaybackProblem): problem is Waiting => typeof problem === 'object' && 'reason' in problem;

function textOf(texts: Texts, problem: PlaybackProblem, link: string | null): Partial<FailureText> {
  if (typeof problem === 'string') return { title: texts.t(`player.${problem}`) };
  if (!isWaiting(problem)) return streamFailureText(texts, problem, link ?? undefined);
  return { title: texts.t(`waiting.${problem.reason}`), what: texts.t(`waiting.${problem.reason}.what`) };
}

/** Whether the browser itself plays HLS. */
const playsHls = (): boolean => document.createElement('video').canPlayType('application/vnd.apple.mpegurl') !== '';

/** Plays HLS with hls.js while `url` is set. @param attempt a changed number loads the playlist again */
function useHls(
  media: RefObject<HTMLMediaElement | null>,
  url: string | undefined,
  attempt: number,
  onError: () => void,
): void {
  const fail = useRef(onError);
  fail.current = onError;
  useEffect(() => {
    if (!url) return;
    let playing: { destroy(): void } | undefined;
    let isLeft = false;
    const play = async () => {
      const { default: Hls } = await import('hls.js');
      const { current } = media;
      if (isLeft || !current) return;
      // The Content-Security-Policy allows no workers.
      const hls = new Hls({ enableWorker: false, startPosition: current.currentTime || -1 });
      playing = hls;
      hls.on(Hls.Events.ERROR, (_, { fatal }) => fatal && fail.current());
      hls.loadSource(url);
      hls.attachMedia(current);
    };
    play().catch(() => fail.current());
    return () => {
      isLeft = true;
      playing?.destroy();
    };
  }, [media, url, attempt]);
}
