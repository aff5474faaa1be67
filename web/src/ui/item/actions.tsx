import { useId, useState } from 'preact/hooks';
import type { Api } from '../../api/index.ts';
import type { HistoryItem } from '../../history.ts';
import { pagePath, shareableLocation } from '../../links.ts';
import { type Choice, preferenceOf, qualityOf } from '../../renditions/index.ts';
import { useObservable, usePage } from '../context.ts';
import { Button, ButtonSize, CopyButton } from '../controls.tsx';
import { sizeName } from '../details.ts';
import { DownloadNote } from '../download-note.tsx';
import { useLazy, useLoaded } from '../hooks.ts';

interface ActionsProps {
  readonly choice: Choice;
  readonly item: HistoryItem;
  readonly onPlay: () => void;
  readonly onWithoutSubtitles: () => void;
}

/** Actions of the selected rendition. */
export const Actions = ({ choice, item, onPlay, onWithoutSubtitles }: ActionsProps) => {
  const { t, texts, format, api, downloads } = usePage();
  const { label, container } = choice;
  const url = downloads.urlOf(choice);
  const state = useObservable(downloads.states).get(url);
  const { loaded: ShareFile } = useLazy(loadShareFile, hasShareSheet() && 'canShare' in navigator);
  const dropSubtitles = () => {
    onWithoutSubtitles();
    void downloads.start(downloads.urlOf({ ...choice, subtitles: undefined }), item);
  };
  return (
    <>
      <div class="actions">
        <Button
          look="primary"
          icon="download"
          aria-disabled={state?.phase === 'opening'}
          onClick={() => void downloads.start(url, item)}
        >
          <span>
            {t('action.download')}
            <ButtonSize size={sizeName(choice, texts, format)} />
          </span>
          <span class="visually-hidden">{container === label ? label : `${label} ${container}`}</span>
        </Button>
        <Button look="" icon="play" name={t('action.play')} onClick={onPlay} />
      </div>
      <DownloadNote url={url} link={item.link} />
      {choice.subtitles && state?.phase === 'failed' && (
        <Button icon="download" onClick={dropSubtitles}>
          {t('action.withoutSubtitles')}
        </Button>
      )}
      <div class="row actions-more">
        <CopyButton text={api.streamUrl(choice.rendition, choice)} label={t('action.copyLink')} />
        {item.link && <ShareButton item={item} choice={choice} />}
        {ShareFile && <ShareFile key={url} url={url} choice={choice} share={share} />}
      </div>
    </>
  );
};

/** Shares this page's address with the choice in it: the share sheet on touch screens, else a QR code and a copy. */
const ShareButton = ({ item, choice }: Pick<ActionsProps, 'item' | 'choice'>) => {
  const { t, api } = usePage();
  const [isOpen, setOpen] = useState(false);
  /** URL at which other devices open the page. Null: they cannot. Undefined: not known yet. */
  const [base, setBase] = useState<string | null>();
  const id = useId();
  const location = shareableLocation([item.link ?? ''], qualityOf(preferenceOf(choice)), '');
  const open = async () => {
    const found = base === undefined ? await reachableBase(api) : base;
    setBase(found);
    if (found !== null && hasShareSheet()) await share({ title: item.title ?? undefined, url: found + location });
    else setOpen(!isOpen);
  };
  return (
    <>
      <Button icon="share" aria-expanded={isOpen} aria-controls={id} onClick={() => void open()}>
        {t('action.share')}
      </Button>
      <div id={id} class="row share-panel" hidden={!isOpen}>
        {isOpen && base === null && <p role="status">{t('share.none')}</p>}
        {isOpen && base && (
          <>
            <QrCode text={base + location} name={t('share.qr')} />
            <CopyButton text={base + location} label={t('share.copy')} />
          </>
        )}
      </div>
    </>
  );
};

/** Whether a URL names the machine itself, such as localhost. */
const isOwnName = (base: string): boolean =>
  /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(new URL(base).hostname);

/** Where other devices open the page: here, or where the instance says; null where they cannot. */
async function reachableBase(api: Api): Promise<string | null> {
  if (!isOwnName(location.origin)) return location.origin + pagePath();
  const { publicUrl } = await api.getAppInfo().catch(() => ({ publicUrl: undefined }));
  return publicUrl && !isOwnName(publicUrl) ? publicUrl.replace(/\/$/, '') : null;
}

const hasShareSheet = (): boolean => 'share' in navigator && matchMedia('(pointer: coarse)').matches;

const loadShareFile = async () => (await import('./share-file.tsx')).ShareFile;

/** Ignores that the sheet was dismissed. */
const share = (data: ShareData) =>
  navigator.share(data).catch((error: unknown) => {
    if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
  });

/** Renders nothing for a text that no QR code holds (over 2 KB). */
const QrCode = ({ text, name }: { readonly text: string; readonly name: string }) => {
  const code = useLoaded(() => qrCodeOf(text), [text]);
  if (!code) return null;
  return (
    <svg class="qr" viewBox={`0 0 ${code.size} ${code.size}`} role="img" aria-label={name} shape-rendering="crispEdges">
      <path d={code.path} />
    </svg>
  );
};

/** Modules of quiet zone, ISO/IEC 18004 §6.3.8. */
const BORDER = 4;

/**
 * A text as a QR code; undefined when it exceeds the largest version (2,953 bytes).
 * @returns modules on each side, quiet zone included, and the SVG path of the dark ones, one unit each
 */
export async function qrCodeOf(text: string) {
  if (new TextEncoder().encode(text).length > 2953) return undefined;
  // Loaded on demand: most visitors never open it.
  const { encode } = await import('uqr');
  const { size, data } = encode(text, { ecc: 'L', border: BORDER });
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : []))).join('');
  return { size, path };
}
