export { ClipEditor } from './clip-editor.tsx';
