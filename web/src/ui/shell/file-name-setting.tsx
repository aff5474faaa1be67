import { useState } from 'preact/hooks';
import { usePage } from '../context.ts';
import { Icon, useLazy } from '../controls/index.ts';

/** The pattern of file names. */
export const FileNameSetting = () => {
  const { t } = usePage().texts;
  const [isOpen, setOpen] = useState(false);
  const { loaded: FileNameForm } = useLazy(loadFileNameForm, isOpen);
  return (
    <details class="file-names" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Icon name="all" />
        {t('fileNames.title')}
      </summary>
      {FileNameForm && <FileNameForm />}
    </details>
  );
};

const loadFileNameForm = async () => (await import('../settings/index.ts')).FileNameForm;
