export { Playlist } from './playlist.tsx';
