import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiFailure, untilStreamable } from '../../api/index.ts';
import type { Choice } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Button } from '../controls.tsx';
import { streamFailureText } from '../failure-text.ts';
import { toFailure } from '../session.ts';

interface ShareFileProps {
  readonly url: string;
  readonly choice: Choice;
  readonly share: (data: ShareData) => Promise<void>;
}

/** A shared file is in memory as a whole. */
const MAX_BYTES = 100e6;
/** By the system. */
const REFUSED = new ApiFailure('refused', { problem: 'unsupported-rendition' });

/** Fetches a file and hands it to the share sheet, which saves it to the photos of a phone. Nothing where it cannot be shared. */
export const ShareFile = ({ url, choice, share }: ShareFileProps) => {
  const { t, texts, format } = usePage();
  /** Bytes received so far, or what it has come to. */
  const [state, setState] = useState<number | File | ApiFailure>();
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const { title, sizeBytes = Number.POSITIVE_INFINITY, rendition } = choice;
  const fileOf = (content: BlobPart[]) =>
    new File(content, (title || t('item.untitled')) + rendition.fileExtension, { type: rendition.mimeType ?? '' });
  if (sizeBytes > MAX_BYTES || !navigator.canShare({ files: [fileOf([])] })) return null;

  const receive = async (signal: AbortSignal) => {
    await untilStreamable(url, { signal });
    const { ok, body } = await fetch(url, { signal });
    if (!ok || !body) throw new ApiFailure('failed');
    const reader = body.getReader();
    const received = [];
    for (let bytes = 0; bytes <= MAX_BYTES; setState(bytes)) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return fileOf(received);
      received.push(value);
      bytes += value.length;
    }
    void reader.cancel();
    throw new ApiFailure('refused', { problem: 'too-large' });
  };
  const act = () => {
    // The sheet opens only upon a press: that which began a long download no longer counts.
    if (state instanceof File) return void share({ files: [state] }).catch(() => setState(REFUSED));
    running.current?.abort();
    if (typeof state === 'number') return setState(undefined);
    running.current = new AbortController();
    const { signal } = running.current;
    setState(0);
    receive(signal).then(
      (file) => signal.aborted || setState(file),
      (error) => signal.aborted || setState(toFailure(error)),
    );
  };
  const failure = state instanceof ApiFailure && streamFailureText(texts, state);
  return (
    <>
      <Button icon={typeof state === 'number' ? 'close' : 'share'} onClick={act}>
        {typeof state === 'number'
          ? `${t('action.cancel')} · ${format.bytes(state)}`
          : t(state instanceof File ? 'share.fetched' : 'share.file')}
      </Button>
      <p role="status" class="error-text">
        {failure && `${failure.title}. ${failure.what}`}
      </p>
    </>
  );
};
