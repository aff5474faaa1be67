export { createPlaylists, type ListContext } from './playlists.ts';
