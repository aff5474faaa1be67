import { useObservable, usePage } from './context.ts';
import { Button } from './controls.tsx';
import { failureText, streamFailureText } from './failure-text.ts';
import { NextTry } from './next-try.tsx';

interface DownloadNoteProps {
  readonly url: string | undefined;
  /** The page that it is from, whose site is named where it matters. */
  readonly link?: string | null;
}

/** What a download waits for, that it has started or why it has failed. Rendered before, so that it is announced. */
export const DownloadNote = ({ url, link }: DownloadNoteProps) => {
  const { t, texts, downloads } = usePage();
  const state = useObservable(downloads.states).get(url ?? '');
  const waiting = state?.phase === 'opening' ? state.waiting : undefined;
  const failure = state?.phase === 'failed' ? state.failure : undefined;
  const wordsOf = url && URL.parse(url)?.pathname.endsWith('/api/Get') ? failureText : streamFailureText;
  const words = failure && wordsOf(texts, failure, link ?? undefined);
  return (
    <div class="download-note">
      <p role="status">
        {waiting && t(`waiting.${waiting.reason}`)}
        {words && (
          <span class="error-text">
            {words.title}. {words.what}
          </span>
        )}
        {state?.phase === 'started' && t('downloads.started')}
      </p>
      {waiting && (
        <p>
          <NextTry waiting={waiting} />{' '}
          <Button onClick={() => url && downloads.cancel(url)}>{t('action.cancel')}</Button>
        </p>
      )}
    </div>
  );
};
