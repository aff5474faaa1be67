import './styles/index.css';
import { startPage } from './ui/start-page.tsx';
import { StatusPage } from './ui/status-page.tsx';

void startPage(<StatusPage />);
