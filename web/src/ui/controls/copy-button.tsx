import { useEffect, useState } from 'preact/hooks';
import { usePage } from '../context.ts';
import { Button } from './button.tsx';

export interface CopyButtonProps {
  readonly text: string;
  /** Visible label; without it only the icon, named by `name`. */
  readonly label?: string;
  readonly name?: string;
}

/** Copies a text and announces it. Without clipboard access (plain http), shows the text for manual copying. */
export const CopyButton = ({ text, label, name }: CopyButtonProps) => {
  const { texts, announcement } = usePage();
  const { t } = texts;
  const [result, setResult] = useState<'copied' | 'refused'>();
  useEffect(() => setResult(undefined), [text]);
  useEffect(() => {
    if (result !== 'copied') return;
    const timer = setTimeout(() => setResult(undefined), 2500);
    return () => clearTimeout(timer);
  }, [result]);

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setResult('copied');
      announcement.set(t('say.copied'));
    } catch {
      setResult('refused');
    }
  };
  const isCopied = result === 'copied';
  return (
    <>
      <Button icon={isCopied ? 'check' : 'copy'} name={name} onClick={copy}>
        {label && (isCopied ? t('action.copied') : label)}
      </Button>
      {result === 'refused' && label && (
        <label class="manual-copy">
          {t('action.notCopied')}
          <input readOnly dir="ltr" value={text} ref={(field) => field?.select()} />
        </label>
      )}
    </>
  );
};
