export { FileNameForm } from './file-name-form.tsx';
