"""Is what a repository has dealt with seen, and only that?"""
