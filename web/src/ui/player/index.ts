export { PlayerHost } from './player-host.tsx';
