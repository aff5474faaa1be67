import { useEffect, useId, useState } from 'preact/hooks';
import { shareableLocation } from '../../lib/index.ts';
import { type Choice, preferenceOf, qualityOf } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls/index.ts';

export interface ShareButtonProps {
  readonly link: string;
  readonly title: string | null;
  readonly choice: Choice;
}

/** Shares this page's address with the choice in it: the share sheet on touch screens, else a QR code and a copy. */
export const ShareButton = ({ link, title, choice }: ShareButtonProps) => {
  const { t } = usePage().texts;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const url = new URL(shareableLocation(link, qualityOf(preferenceOf(choice))), location.origin).href;
  const share = () => {
    if (hasShareSheet()) void navigator.share({ title: title ?? undefined, url }).catch(ignoreDismissal);
    else setOpen(!isOpen);
  };
  return (
    <>
      <button type="button" class="button plain small" aria-expanded={isOpen} aria-controls={id} onClick={share}>
        <Icon name="share" />
        {t('action.share')}
      </button>
      <div id={id} class="share-panel" hidden={!isOpen}>
        {isOpen && (
          <>
            <QrCode text={url} name={t('share.qr')} />
            <CopyButton text={url} label={t('share.copy')} />
          </>
        )}
      </div>
    </>
  );
};

const hasShareSheet = (): boolean => 'share' in navigator && matchMedia('(pointer: coarse)').matches;

const ignoreDismissal = (error: unknown): void => {
  if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
};

/** Renders nothing for a text that no QR code holds (over 2 KB). */
const QrCode = ({ text, name }: { readonly text: string; readonly name: string }) => {
  const [code, setCode] = useState<{ size: number; path: string }>();
  useEffect(() => {
    // Loaded on demand: most visitors never open it.
    void import('./qr-code.ts').then(({ qrCodeOf }) => setCode(qrCodeOf(text)));
  }, [text]);
  if (!code) return null;
  return (
    <svg class="qr" viewBox={`0 0 ${code.size} ${code.size}`} role="img" aria-label={name} shape-rendering="crispEdges">
      <path d={code.path} />
    </svg>
  );
};
