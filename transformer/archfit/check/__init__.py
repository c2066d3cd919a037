"""`archfit check`: would archfit still change something, and does every image run there?"""
