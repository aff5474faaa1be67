import './styles/index.css';
import { App, startPage } from './ui/shell/index.ts';

void startPage(<App />, location.search);
if (import.meta.env.PROD) void navigator.serviceWorker?.register('/service-worker.js');
